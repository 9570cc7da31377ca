# Makes a text file a part of the library: writes a source file with a function `name` that returns its text, as `header`
# declares it, and sets `result` to the source's path.
function(stoker_shipped_text file header name result)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  file(GENERATE OUTPUT ${source} CONTENT "// Written by cmake/shipped_text.cmake.
#include \"${header}\"

namespace stoker {

std::string_view ${name}() {
  return R\"shipped(${text})shipped\";
}

}  // namespace stoker
")
  set(${result} ${source} PARENT_SCOPE)
endfunction()
