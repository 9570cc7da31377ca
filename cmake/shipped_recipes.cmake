# Makes the recipes of a folder a part of the library: writes a source file with their text, which shipped_recipes.h
# declares, and sets `result` to its path.
function(stoker_shipped_recipes folder result)
  file(GLOB recipes CONFIGURE_DEPENDS ${folder}/*.toml)
  set(rows "")
  foreach(recipe IN LISTS recipes)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${recipe})
    cmake_path(GET recipe STEM name)
    file(READ ${recipe} text)
    string(APPEND rows "    {\"${name}\", R\"toml(${text})toml\"},\n")
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/shipped_recipes.cc)
  file(GENERATE OUTPUT ${source} CONTENT "// Written by cmake/shipped_recipes.cmake.
#include \"stoker/plan/shipped_recipes.h\"

namespace stoker {

std::span<const ShippedRecipe> shipped_recipes() {
  static constexpr ShippedRecipe kRecipes[] = {
${rows}  };
  return kRecipes;
}

}  // namespace stoker
")
  set(${result} ${source} PARENT_SCOPE)
endfunction()
