# Builds and runs the consumer: MODE is package (installs first) or subdirectory.
#   cmake -DMODE=... -DSOURCE=... -DBUILD=... -DWORK=... -DGENERATOR=... -DCOMPILER=... -P run.cmake
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/build
              -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}")
if(MODE STREQUAL "package")
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
  run(${configure} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
else()
  # Built once more, so it may as well be without the CUDA Toolkit.
  run(${configure} -DANABRANCH_SOURCE=${SOURCE} -DANABRANCH_CUDA=OFF)
endif()
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/build --output-on-failure)
