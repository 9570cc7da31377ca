# What is linked otherwise for a wheel, which has to run on other machines than the one that built it (docs/wheel.md).

# libarchive.so needs libxml2 and ICU, 35 MB, for formats that Stoker does not read, and glibc 2.36. Of the static library
# --gc-sections leaves tar alone, which needs nothing; until then the linker wants to see zlib.
find_library(STOKER_LIBARCHIVE_A libarchive.a REQUIRED)
set_target_properties(PkgConfig::archive PROPERTIES INTERFACE_LINK_LIBRARIES "${STOKER_LIBARCHIVE_A};-Wl,--as-needed;z")

# stoker_for_wheel(TARGET): a program of the wheel; takes older versions of some functions than the linker would.
function(stoker_for_wheel target)
  # libcurl's own libraries have what parts of libarchive want that are left out afterwards: the linker must not look there.
  target_link_options(${target} PRIVATE -Wl,--gc-sections -Wl,--allow-shlib-undefined)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/python/wheel/older_symbols.cc)
    target_link_options(${target} PRIVATE
      -Wl,--wrap=hypot -Wl,--wrap=_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE)
  endif()
endfunction()
