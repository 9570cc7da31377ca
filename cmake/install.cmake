# What `cmake --install` leaves: the command, libstoker.a and libstoker.so with their headers, and what find_package(stoker)
# and pkg-config read.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stoker)

set(libraries stoker)
if(TARGET stoker_shared)
  list(APPEND libraries stoker_shared)
endif()
install(TARGETS ${libraries} EXPORT stokerTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
install(EXPORT stokerTargets NAMESPACE stoker:: DESTINATION ${package_dir} COMPONENT development)

# The public headers: stoker.h, and what it includes in turn.
set(public_headers stoker/stoker.h)
set(unread ${public_headers})
while(unread)
  list(POP_FRONT unread header)
  file(STRINGS ${PROJECT_SOURCE_DIR}/${header} includes REGEX "^#include \"stoker/")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "^#include \"(.*)\"" "\\1" include "${include}")
    if(NOT include IN_LIST public_headers)
      list(APPEND public_headers ${include})
      list(APPEND unread ${include})
    endif()
  endforeach()
endwhile()
foreach(header IN LISTS public_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder} COMPONENT development)
endforeach()

install(FILES stoker/c/stoker.h stoker/function/library/stoker_function.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development)

configure_package_config_file(cmake/stokerConfig.cmake.in ${PROJECT_BINARY_DIR}/stokerConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/stokerConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/stokerConfig.cmake ${PROJECT_BINARY_DIR}/stokerConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT development)
file(RELATIVE_PATH prefix_from_here /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/stoker.pc.in ${PROJECT_BINARY_DIR}/stoker.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/stoker.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

if(TARGET stoker_cli)
  install(TARGETS stoker_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
endif()
