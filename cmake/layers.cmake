# What a layer of the library is made of, and how the layers make one library.
#
# Where CMAKE_UNITY_BUILD is on, as in most presets, a dozen files of a layer are compiled as one, which reads their headers
# once: names in anonymous namespaces are unique in a layer, in the command, and in the module.

# Options every translation unit is built with. Contraction is off because each multiplication and addition of a
# color map rounds by itself (ARCHITECTURE.md).
add_library(stoker_options INTERFACE)
target_include_directories(stoker_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_features(stoker_options INTERFACE cxx_std_20)

add_library(stoker_build_flags INTERFACE)
target_compile_options(stoker_build_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wnon-virtual-dtor;-ffp-contract=off;-fno-math-errno>")
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # g++ 12 sees overflows in fmt's parser and in std::string that are not there
  target_compile_options(stoker_build_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow;-Wno-restrict>")
endif()
if(STOKER_ASSERTIONS)
  target_compile_options(stoker_build_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-UNDEBUG>")
endif()
if(STOKER_SANITIZE)
  target_compile_options(stoker_build_flags INTERFACE -fsanitize=${STOKER_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all -g1)
  target_link_options(stoker_build_flags INTERFACE -fsanitize=${STOKER_SANITIZE})
endif()
if(STOKER_BUILD_FUZZERS)  # counts what was reached, for libFuzzer to see
  target_compile_options(stoker_build_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

add_library(stoker_light_flags INTERFACE)
target_compile_options(stoker_light_flags INTERFACE "$<$<NOT:$<CONFIG:Debug>>:${STOKER_LIGHT_FLAGS}>")

# GoogleTest's headers and the standard library's take half of the time in which a test is compiled: they are read once.
if(STOKER_BUILD_TESTS)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cc CONTENT "int main() {}\n")
  add_executable(stoker_test_headers ${PROJECT_BINARY_DIR}/test_headers.cc)  # as tests are: with the flags of a program
  set_target_properties(stoker_test_headers PROPERTIES UNITY_BUILD OFF)
  target_link_libraries(stoker_test_headers PRIVATE stoker_options stoker_build_flags stoker_light_flags fmt::fmt GTest::gmock)
  target_precompile_headers(stoker_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <fmt/format.h> <algorithm> <array>
    <atomic> <chrono> <condition_variable> <deque> <filesystem> <fstream> <functional> <map> <memory> <mutex> <numeric>
    <optional> <set> <span> <string> <string_view> <thread> <unordered_map> <variant> <vector>)
endif()

# The programs whose tests start threads: `./dev test --sanitize` runs them under ThreadSanitizer.
add_custom_target(threads_tests)

# stoker_layer(NAME [THREADS] [SHARDS n] [USES layer...] [LINKS target...])
#   sources: every *.cc of the folder NAME (and of its folders; of those called `cuda` only with CUDA, and *.cu then),
#   tests: *_test.cc, test helpers: *_testing.cc, which the tests of the layers above may use too
#   THREADS: its tests start threads; they carry the label `threads`
#   SHARDS: its tests take long: ctest runs them as so many parts, which different cores may take
function(stoker_layer name)
  cmake_parse_arguments(LAYER "THREADS" "SHARDS" "USES;LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  if(NOT STOKER_CUDA)
    list(FILTER sources EXCLUDE REGEX "/cuda/")
  endif()
  set(tests ${sources})
  set(helpers ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER helpers INCLUDE REGEX "_testing\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|testing|bench)\\.cc$")
  if(STOKER_CUDA)
    file(GLOB_RECURSE kernels CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cu)
    list(APPEND sources ${kernels})
    list(FILTER sources EXCLUDE REGEX "/without_cuda\\.cc$")
  endif()

  # Each by itself, and CUDA's headers for their layer alone: all others are then compiled in the same way with and without
  # CUDA, and ccache has them from the build without it.
  set(cuda_sources ${sources})
  list(FILTER cuda_sources INCLUDE REGEX "cuda(/|\\.cc$)")
  set_source_files_properties(${cuda_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(cuda "")
  if(STOKER_CUDA AND cuda_sources)
    set(cuda CUDA::cudart_static)
  endif()

  list(TRANSFORM LAYER_USES PREPEND stoker_ OUTPUT_VARIABLE used_layers)
  add_library(stoker_${name} STATIC ${sources})
  target_link_libraries(stoker_${name} PUBLIC stoker_options ${used_layers}
    PRIVATE $<BUILD_INTERFACE:stoker_build_flags> ${LAYER_LINKS} ${cuda})
  set_property(GLOBAL APPEND PROPERTY STOKER_LAYERS stoker_${name})
  set_property(GLOBAL APPEND PROPERTY STOKER_LINKS ${LAYER_LINKS} ${cuda})

  if(NOT STOKER_BUILD_TESTS)
    return()
  endif()
  set(CMAKE_UNITY_BUILD OFF)  # tests may call the same things by the same names
  set(used_helpers stoker_${name} stoker_build_flags stoker_light_flags ${LAYER_LINKS})
  foreach(used IN LISTS used_layers)
    list(APPEND used_helpers ${used}_testing)
  endforeach()
  if(helpers)
    add_library(stoker_${name}_testing STATIC ${helpers})
    target_link_libraries(stoker_${name}_testing PUBLIC ${used_helpers} GTest::gmock)
  else()
    add_library(stoker_${name}_testing INTERFACE)
    target_link_libraries(stoker_${name}_testing INTERFACE ${used_helpers})
  endif()

  add_executable(${name}_test ${tests})
  target_link_libraries(${name}_test PRIVATE stoker_${name}_testing ${cuda} GTest::gmock GTest::gtest_main)
  target_precompile_headers(${name}_test REUSE_FROM stoker_test_headers)
  if(NOT LAYER_SHARDS)
    set(LAYER_SHARDS 1)
  endif()
  math(EXPR last "${LAYER_SHARDS} - 1")
  set(labels "")
  if(LAYER_THREADS)
    set(labels threads)
    add_dependencies(threads_tests ${name}_test)
  endif()
  foreach(shard RANGE ${last})
    set(part ${name})
    if(last GREATER 0)
      set(part ${name}_${shard})
    endif()
    add_test(NAME ${part} COMMAND ${name}_test)
    set_tests_properties(${part} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${LAYER_SHARDS};GTEST_SHARD_INDEX=${shard}"
      LABELS "${labels}")
  endforeach()
endfunction()

# stoker_library(): all layers declared so far as one static library, `stoker` (stoker::stoker once installed).
function(stoker_library)
  get_property(layers GLOBAL PROPERTY STOKER_LAYERS)
  get_property(links GLOBAL PROPERTY STOKER_LINKS)
  list(REMOVE_DUPLICATES links)
  list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)

  add_library(stoker STATIC ${objects})
  add_library(stoker::stoker ALIAS stoker)
  set_target_properties(stoker PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(stoker PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(stoker PUBLIC cxx_std_20)
  target_link_libraries(stoker PUBLIC fmt::fmt PRIVATE $<BUILD_INTERFACE:stoker_build_flags> ${links})
endfunction()
