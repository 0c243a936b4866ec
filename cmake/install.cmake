# What `cmake --install` puts in place: library, headers, CLI, man page, CMake package, pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS tileflow RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tileflow_static tileflow_shared EXPORT tileflowTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/tileflow DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES docs/tileflow.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
set(TF_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tileflow)
install(EXPORT tileflowTargets NAMESPACE tileflow:: DESTINATION ${TF_CMAKE_DIR})
configure_package_config_file(cmake/tileflowConfig.cmake.in ${CMAKE_BINARY_DIR}/tileflowConfig.cmake
                              INSTALL_DESTINATION ${TF_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tileflowConfigVersion.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tileflowConfig.cmake ${CMAKE_BINARY_DIR}/tileflowConfigVersion.cmake
        DESTINATION ${TF_CMAKE_DIR})
configure_file(cmake/tileflow.pc.in ${CMAKE_BINARY_DIR}/tileflow.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tileflow.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
