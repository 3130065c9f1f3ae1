# Install rules and the package that find_package(tarry) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS tarry EXPORT tarry_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/tarry DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE docs/licenses.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARRY_BUILD_TOOLS)
  install(TARGETS tarry_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET tarry_pages)
    install(FILES ${PROJECT_BINARY_DIR}/tools/tarry.bash
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tarry)
    install(FILES ${PROJECT_BINARY_DIR}/tools/tarry.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tarry)
install(EXPORT tarry_targets NAMESPACE tarry:: FILE tarryTargets.cmake DESTINATION ${package_dir})
# A static library leaves its private libraries to whoever links it; a shared one has them already.
get_target_property(TARRY_LIBRARY_TYPE tarry TYPE)
configure_package_config_file(cmake/tarryConfig.cmake.in ${PROJECT_BINARY_DIR}/tarryConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tarryConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tarryConfig.cmake ${PROJECT_BINARY_DIR}/tarryConfigVersion.cmake
  DESTINATION ${package_dir})
