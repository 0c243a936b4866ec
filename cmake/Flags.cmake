# Language, warnings, sanitizers: one interface target that everything of ours links.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden) # but for TF_API, include/tileflow/api.h
set(CMAKE_EXPORT_COMPILE_COMMANDS ON) # for clang-tidy and editors

# Release is the default, with CMake's own -O3 -DNDEBUG; Debug has the asserts, and -O1 (CMakeLists.txt, before project).
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()

add_library(tileflow_flags INTERFACE)
target_compile_definitions(tileflow_flags INTERFACE _POSIX_C_SOURCE=200809L)
target_compile_options(tileflow_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -ffp-contract=off           # the same digits from every compiler
  -fno-semantic-interposition # calls within the library may be inlined
  $<$<BOOL:${TF_WERROR}>:-Werror>)

if(TF_SANITIZE OR TF_FUZZ) # null and object-size take time, and the address sanitizer finds what they find
  set(sanitize -fsanitize=address,undefined -fno-sanitize=null,object-size -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(tileflow_flags INTERFACE ${sanitize})
  target_link_options(tileflow_flags INTERFACE ${sanitize})
endif()

if(TF_TSAN)
  target_compile_options(tileflow_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(tileflow_flags INTERFACE -fsanitize=thread)
endif()

if(TF_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TF_FUZZ needs clang: configure with CC=clang")
  endif()
  target_compile_options(tileflow_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
