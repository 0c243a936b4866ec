# What `cmake --install` lays down: headers, libraries, CMake package, pkg-config file, manual, and files to work with.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tileflow)

install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tileflow)
install(TARGETS tileflow_static tileflow_shared EXPORT tileflowTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT tileflowTargets NAMESPACE tileflow:: DESTINATION ${package_dir})

configure_package_config_file(cmake/tileflowConfig.cmake.in tileflowConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tileflowConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tileflowConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/tileflowConfigVersion.cmake
        DESTINATION ${package_dir})

# The .pc file names its prefix relative to itself, so that the tree may be moved.
file(RELATIVE_PATH up_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/tileflow.pc.in tileflow.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tileflow.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES docs/tileflow.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)

# What the examples of --help name, in the folders in which they name it.
set(shared ${CMAKE_INSTALL_DATADIR}/tileflow)
install(DIRECTORY arch-specs workloads examples DESTINATION ${shared})
foreach(file docs/results/slope.csv tests/data/onnx/mob-17.onnx tests/data/timeloop/case004.yaml)
  get_filename_component(folder ${file} DIRECTORY)
  install(FILES ${file} DESTINATION ${shared}/${folder})
endforeach()

# What shells complete, as the tool itself says it.
if(TARGET tileflow AND NOT CMAKE_CROSSCOMPILING)
  foreach(shell bash zsh fish)
    set(completion ${PROJECT_BINARY_DIR}/completion.${shell})
    install(CODE "execute_process(COMMAND \"$<TARGET_FILE:tileflow>\" completion ${shell} -o \"${completion}\" RESULT_VARIABLE failed)
      if(failed)
        message(FATAL_ERROR \"tileflow completion ${shell}: \${failed}\")
      endif()")
  endforeach()
  install(FILES ${PROJECT_BINARY_DIR}/completion.bash RENAME tileflow
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${PROJECT_BINARY_DIR}/completion.zsh RENAME _tileflow
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${PROJECT_BINARY_DIR}/completion.fish RENAME tileflow.fish
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
