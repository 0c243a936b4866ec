# What `cmake --install` lays down: headers, libraries, CMake package, pkg-config file, manual, and files to work with.
# Its components are the packages that Package.cmake makes: `tileflow`, the command with what it reads and shells complete;
# `library`, the shared one; `development`, what programs are built with.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tileflow)

if(SKBUILD) # wheels hold no links: one file, under the name that is looked for
  set_property(TARGET tileflow_shared PROPERTY VERSION)
  set_property(TARGET tileflow_shared PROPERTY SOVERSION)
endif()

install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tileflow COMPONENT development)
install(TARGETS tileflow_static tileflow_shared EXPORT tileflowTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(EXPORT tileflowTargets NAMESPACE tileflow:: DESTINATION ${package_dir} COMPONENT development)

configure_package_config_file(cmake/tileflowConfig.cmake.in tileflowConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tileflowConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tileflowConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/tileflowConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT development)

# The .pc file names its prefix relative to itself, so that the tree may be moved.
file(RELATIVE_PATH up_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/tileflow.pc.in tileflow.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tileflow.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# compressed SOURCE NAME FOLDER COMPONENT ...: a file as NAME.gz, the same bytes whenever it is made; the rest is install's.
find_program(GZIP gzip)
function(compressed source name folder component)
  set(out ${PROJECT_BINARY_DIR}/compressed/${component}/${name})
  configure_file(${source} ${out} COPYONLY)
  if(GZIP)
    execute_process(COMMAND ${GZIP} -9nf ${out} RESULT_VARIABLE bad)
    if(bad)
      message(FATAL_ERROR "${GZIP} ${out}: ${bad}")
    endif()
    string(APPEND out .gz)
  endif()
  install(FILES ${out} DESTINATION ${folder} COMPONENT ${component} ${ARGN})
endfunction()
compressed(${PROJECT_SOURCE_DIR}/docs/tileflow.1 tileflow.1 ${CMAKE_INSTALL_MANDIR}/man1 tileflow)
compressed(${PROJECT_SOURCE_DIR}/docs/tileflow-certify.1 tileflow-certify.1 ${CMAKE_INSTALL_MANDIR}/man1 tileflow)

# What the examples of --help name, in the folders in which they name it.
set(shared ${CMAKE_INSTALL_DATADIR}/tileflow)
install(DIRECTORY arch-specs workloads examples DESTINATION ${shared} COMPONENT tileflow)
foreach(file docs/results/slope.csv tests/data/onnx/mob-17.onnx tests/data/onnx/enc-17.onnx tests/data/onnx/enc-17.json tests/data/timeloop/case004.yaml)
  get_filename_component(folder ${file} DIRECTORY)
  install(FILES ${file} DESTINATION ${shared}/${folder} COMPONENT tileflow)
endforeach()

# What shells complete, as the tool itself says it.
if(TARGET tileflow AND NOT CMAKE_CROSSCOMPILING)
  foreach(shell bash zsh fish)
    set(completion ${PROJECT_BINARY_DIR}/completion.${shell})
    install(CODE "execute_process(COMMAND \"$<TARGET_FILE:tileflow>\" completion ${shell} -o \"${completion}\" RESULT_VARIABLE failed)
      if(failed)
        message(FATAL_ERROR \"tileflow completion ${shell}: \${failed}\")
      endif()" COMPONENT tileflow)
  endforeach()
  install(FILES ${PROJECT_BINARY_DIR}/completion.bash RENAME tileflow
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tileflow)
  set(zsh site-functions)
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND EXISTS /etc/debian_version)
    set(zsh vendor-completions) # Debian's zsh does not look into /usr/share/zsh/site-functions
  endif()
  install(FILES ${PROJECT_BINARY_DIR}/completion.zsh RENAME _tileflow
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${zsh} COMPONENT tileflow)
  install(FILES ${PROJECT_BINARY_DIR}/completion.fish RENAME tileflow.fish
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tileflow)
endif()
