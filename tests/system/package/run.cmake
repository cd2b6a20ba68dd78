# Builds and runs a project of somebody else's, in every way that it may come by the library.
#   cmake -DMODE=... -DSOURCE=... -DBUILD=... -DWORK=... -DGENERATOR=... -DCOMPILERS=... -DFLAGS=... -P run.cmake
# MODE package: installs what BUILD has, a shared library, and finds it, with each of the compilers.
# MODE subdirectory: builds the library inside the project, shared and static, by add_subdirectory and FetchContent;
# then installs the static one and finds that.
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# In a build folder of that name: its objects serve the next call.
function(consume name compiler)
  message(STATUS "${name}: ${compiler} ${ARGN}")
  run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/${name}
      -DCMAKE_CXX_COMPILER=${compiler} "-DCMAKE_CXX_FLAGS=${FLAGS}" ${ARGN})
  run(${CMAKE_COMMAND} --build ${WORK}/${name})
  run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/${name} --output-on-failure)
endfunction()

# What is installed is the public headers, and a command that runs.
function(expect_public_headers_alone prefix)
  file(GLOB folders RELATIVE ${prefix}/include ${prefix}/include/*)
  file(GLOB_RECURSE headers ${prefix}/include/*)
  file(GLOB_RECURSE public ${SOURCE}/frontend/include/*)
  list(LENGTH headers installed)
  list(LENGTH public written)
  if(NOT folders STREQUAL "anabranch" OR NOT installed EQUAL written)
    message(FATAL_ERROR "${prefix}/include has ${folders}, ${installed} files; there are ${written} public headers")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
list(GET COMPILERS 0 compiler)
if(MODE STREQUAL "package")
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
  expect_public_headers_alone(${WORK}/prefix)
  run(${WORK}/prefix/bin/anabranch devices)
  foreach(compiler IN LISTS COMPILERS)
    cmake_path(GET compiler FILENAME name)
    consume(${name} ${compiler} -DVIA=package -DCMAKE_PREFIX_PATH=${WORK}/prefix)
  endforeach()
else()
  # Built twice more, so it may as well be a folder at a time, not optimized, and without the CUDA Toolkit.
  string(REGEX REPLACE "(^| )-[Og][0-9a-z]*" "" FLAGS "${FLAGS}")
  set(shareds OFF ON)
  set(wide_ffts ON OFF)  # as objects of an archive; the package has them in a shared library
  foreach(shared wide_fft IN ZIP_LISTS shareds wide_ffts)
    foreach(via subdirectory fetch)
      consume(build ${compiler} -DVIA=${via} -DANABRANCH_SOURCE=${SOURCE} -DANABRANCH_CUDA=OFF
              -DBUILD_SHARED_LIBS=${shared} -DANABRANCH_WIDE_FFT=${wide_fft} -DCMAKE_UNITY_BUILD=ON)
      if(via STREQUAL "subdirectory" AND NOT shared)
        run(${CMAKE_COMMAND} --install ${WORK}/build --prefix ${WORK}/prefix)
        consume(static ${compiler} -DVIA=package -DCMAKE_PREFIX_PATH=${WORK}/prefix)
      endif()
    endforeach()
  endforeach()
endif()
