# Writes RESULT, with the digest of the files that LIST names, a line each, below the folder that this runs in.
file(STRINGS ${LIST} files)
foreach(file IN LISTS files)
  file(SHA256 ${file} hash)
  string(APPEND all "${file} ${hash}\n")
endforeach()
string(SHA256 digest "${all}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/source_digest.cpp.in ${RESULT} @ONLY)
