# What `cmake --install` leaves: the command, libstoker.a, the headers, and what find_package(stoker) reads.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stoker)

install(TARGETS stoker EXPORT stokerTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT stokerTargets NAMESPACE stoker:: DESTINATION ${package_dir})
install(DIRECTORY stoker DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
  PATTERN "*.h" PATTERN "*-inl.h" EXCLUDE PATTERN "*_testing.h" EXCLUDE)

configure_package_config_file(cmake/stokerConfig.cmake.in ${PROJECT_BINARY_DIR}/stokerConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/stokerConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/stokerConfig.cmake ${PROJECT_BINARY_DIR}/stokerConfigVersion.cmake
  DESTINATION ${package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(TARGET stoker_cli)
  install(TARGETS stoker_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
