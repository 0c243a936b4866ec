# What `cpack -G DEB` makes in a build folder: the packages tileflow, libtileflow0 and libtileflow-dev (docs/HOWTO-install.md).
# Configured with -DCMAKE_INSTALL_PREFIX=/usr, files lie where Debian has them: libraries in /usr/lib/x86_64-linux-gnu.
set(TF_PACKAGER "the tileflow authors <tileflow@localhost>" CACHE STRING "Maintainer of Debian packages: NAME <ADDRESS>")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tileflow)
set(CPACK_PACKAGE_CONTACT "${TF_PACKAGER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL tileflow library development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)

# The day of the newest version, as the changelog has it.
file(STRINGS CHANGELOG.md newest REGEX "^## ${PROJECT_VERSION} " LIMIT_COUNT 1)
string(REGEX MATCH "[0-9]+-[0-9]+-[0-9]+" released "${newest}")
execute_process(COMMAND date -u -R -d "${released}" OUTPUT_VARIABLE released OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
# stanza FILES FILE NAME: of Debian's copyright file, from a file with a line "Copyright (c) ..." before the text of a licence.
set(stanzas "")
function(stanza files file name)
  file(READ ${file} text)
  string(REGEX MATCH "Copyright \\(c\\) ([^\n]*)" line "${text}")
  set(copyright "${CMAKE_MATCH_1}")
  string(FIND "${text}" "${line}" at)
  string(SUBSTRING "${text}" ${at} -1 text)
  string(REGEX REPLACE "^Copyright[^\n]*\n(All rights reserved.\n)?\n" "" text "${text}")
  string(REPLACE "\n\n" "\n.\n" text "${text}")
  string(REGEX REPLACE "\n([^\n])" "\n \\1" text "${text}")
  set(stanzas "${stanzas}\nFiles: ${files}\nCopyright: ${copyright}\nLicense: ${name}\n ${text}" PARENT_SCOPE)
endfunction()
stanza(* LICENSE Expat)
stanza(cli/page/d3.min.js cli/page/D3-LICENCE BSD-3-clause) # within the command
file(CONFIGURE OUTPUT debian/copyright @ONLY CONTENT "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: tileflow
@stanzas@")

# debian_package COMPONENT NAME: the texts that each package has in share/doc, beside its fields.
# Not in a plain `cmake --install`, which installs no package.
function(debian_package component name)
  file(CONFIGURE OUTPUT debian/${name}/changelog @ONLY CONTENT "tileflow (@PROJECT_VERSION@) unstable; urgency=medium

  * What is new stands in CHANGELOG.md of the sources.

 -- @TF_PACKAGER@  @released@
")
  set(doc ${CMAKE_INSTALL_DATADIR}/doc/${name})
  install(FILES ${PROJECT_BINARY_DIR}/debian/copyright DESTINATION ${doc} COMPONENT ${component} EXCLUDE_FROM_ALL)
  compressed(${PROJECT_BINARY_DIR}/debian/${name}/changelog changelog ${doc} ${component} EXCLUDE_FROM_ALL)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
endfunction()

debian_package(tileflow tileflow)
set(CPACK_DEBIAN_TILEFLOW_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TILEFLOW_PACKAGE_RECOMMENDS "gcc | c-compiler, libc6-dev")
set(CPACK_DEBIAN_TILEFLOW_PACKAGE_SUGGESTS "gnuplot-nox, libtileflow-dev")
set(CPACK_COMPONENT_TILEFLOW_DESCRIPTION "What a mapping of tensor operations onto a machine with several memories costs:
words moved, words held, cycles, energy; the best mapping, what no mapping can
beat, and the mapping as a C, CUDA or OpenCL kernel.  With the command come
descriptions of machines, workloads and mappings to start from.")

debian_package(library libtileflow${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
# dpkg asks for ldconfig by a trigger; CPack has it called by scripts, too, which is harmless.
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
file(WRITE ${PROJECT_BINARY_DIR}/debian/shlibs
     "libtileflow ${PROJECT_VERSION_MAJOR} libtileflow${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/debian/triggers;${PROJECT_BINARY_DIR}/debian/shlibs")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The shared library: the model, the searches and the writers of kernels behind
the command tileflow, for programs, and for the Python package of that name.")

debian_package(development libtileflow-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libtileflow${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION}), libyaml-dev, libsqlite3-dev, nettle-dev, libprotobuf-c-dev, libglpk-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers, the static library, and what pkg-config and CMake ask for, to build
programs with libtileflow.")
include(CPack)
