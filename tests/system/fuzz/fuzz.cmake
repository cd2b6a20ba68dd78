# The targets fuzz_read_text and fuzz_read_stablehlo: fuzzers by libFuzzer, which is clang's: the part of the library that they need is compiled once more, with clang.
find_program(FUZZ_CLANGXX NAMES clang++-19)
if(FUZZ_CLANGXX)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/fuzz/try.cpp
       CONTENT "extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n")
  execute_process(COMMAND ${FUZZ_CLANGXX} -fsanitize=fuzzer,address,undefined ${CMAKE_CURRENT_BINARY_DIR}/fuzz/try.cpp
                          -o ${CMAKE_CURRENT_BINARY_DIR}/fuzz/try
                  RESULT_VARIABLE no_fuzzer OUTPUT_QUIET ERROR_QUIET)  # libclang-rt-19-dev may be missing
endif()
if(NOT FUZZ_CLANGXX OR NOT no_fuzzer EQUAL 0)
  return()
endif()

# A room at a time, as CMAKE_UNITY_BUILD does it.
set(fuzz_objects)
function(add_fuzz_object name)
  set(includes)
  foreach(source IN LISTS ARGN)
    string(APPEND includes "#include \"${source}\"\n")
  endforeach()
  set(unity ${CMAKE_CURRENT_BINARY_DIR}/fuzz/${name}.cpp)
  file(CONFIGURE OUTPUT ${unity} CONTENT "${includes}")
  set(object ${CMAKE_CURRENT_BINARY_DIR}/fuzz/${name}.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${FUZZ_CLANGXX} -std=c++20 -O1 -g1 -w -fsanitize=fuzzer-no-link,address,undefined
            -fno-sanitize-recover=undefined -fno-omit-frame-pointer -I${PROJECT_SOURCE_DIR}
            -I${PROJECT_SOURCE_DIR}/frontend/include -I${XXHASH_INCLUDE_DIR} -MD -MT ${object} -MF ${object}.d -c ${unity} -o ${object}
    DEPENDS ${unity} DEPFILE ${object}.d VERBATIM)
  set(fuzz_objects ${fuzz_objects} ${object} PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE room CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ir/*.cpp)
list(FILTER room EXCLUDE REGEX "/ir/(text|interpret)/")
add_fuzz_object(ir ${room})
file(GLOB room CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ir/text/*.cpp)
add_fuzz_object(ir_text ${room})

function(add_fuzzer name when libraries)
  add_fuzz_object(${name} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${name}.cpp)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/fuzz/${name})
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${FUZZ_CLANGXX} -fsanitize=fuzzer,address,undefined ${fuzz_objects} ${libraries} -o ${program}
    DEPENDS ${fuzz_objects} ${ARGN} VERBATIM COMMAND_EXPAND_LISTS)
  add_custom_target(fuzz_${name} ${when} DEPENDS ${program})
endfunction()

add_fuzzer(read_text ALL "-lfmt;-lxxhash")
add_test(NAME fuzz.read_text COMMAND ${CMAKE_CURRENT_LIST_DIR}/run ${CMAKE_CURRENT_BINARY_DIR}/fuzz/read_text 20)
set_tests_properties(fuzz.read_text PROPERTIES TIMEOUT 300)

# By hand (ninja fuzz_read_stablehlo): the reader of StableHLO makes graphs by way of the whole library, which is taken as it has been built, but for the reader: so
# not where that has sanitizers of its own.
if(NOT "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_DEBUG}" MATCHES "-fsanitize" AND BUILD_SHARED_LIBS)
  set(fuzz_objects)
  file(GLOB room CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/frontend/stablehlo/*.cpp)
  add_fuzz_object(stablehlo ${room})
  add_fuzzer(read_stablehlo "" "$<TARGET_FILE:anabranch>;-Wl,-rpath,$<TARGET_FILE_DIR:anabranch>" anabranch)
endif()
