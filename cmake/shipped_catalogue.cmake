# Makes the catalogue of disks, networks, GPUs and machines a part of the library: writes a source file with its text,
# which shipped_catalogue.h declares, and sets `result` to its path.
function(stoker_shipped_catalogue catalogue result)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${catalogue})
  file(READ ${catalogue} text)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/shipped_catalogue.cc)
  file(GENERATE OUTPUT ${source} CONTENT "// Written by cmake/shipped_catalogue.cmake.
#include \"stoker/doctor/verdict/shipped_catalogue.h\"

namespace stoker {

std::string_view shipped_catalogue() {
  return R\"toml(${text})toml\";
}

}  // namespace stoker
")
  set(${result} ${source} PARENT_SCOPE)
endfunction()
