# Of an object for newer CPUs, the linker sees one function and no inline ones that serve others, too.
#   cmake -DNM=... -DOBJECT=... -DFUNCTION=... -P visible_symbols.cmake
execute_process(COMMAND ${NM} --extern-only --defined-only --format=posix ${OBJECT} OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES "^${FUNCTION} T [^\n]*\n$")
  message(FATAL_ERROR "${OBJECT} is to show ${FUNCTION} alone, and shows\n${symbols}")
endif()
