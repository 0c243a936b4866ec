#!/bin/sh
# skipped.sh folds the reasons of a run that ctest itself has made, and says nothing where all ran.
#   tests/skipped_selftest.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(skips NONE)
enable_testing()
add_test(NAME a.one COMMAND sh -c "echo 'SKIP: no nvcc'; exit 77")
add_test(NAME b COMMAND sh -c "echo much; echo 'SKIP: no g++'; exit 77")
add_test(NAME c COMMAND sh -c "echo 'SKIP: no g++'; exit 77")
add_test(NAME d COMMAND sh -c "exit 77")
add_test(NAME ran COMMAND sh -c "echo 'SKIP: not all of it'")
set_tests_properties(a.one b c d PROPERTIES SKIP_RETURN_CODE 77)
END
cmake -S . -B build >/dev/null
# said OPTION...: of a run of ctest
said() {
  ctest --test-dir build "$@" >build/test.log
  sh "$here/skipped.sh" build
}
expected="4 tests skipped: no g++ (2), no nvcc, no reason given; ./setup.sh --ci installs what they need, where Debian has it"
all=$(said -j 2)
none=$(said -R ran)
[ "$all" = "$expected" ] && [ -z "$none" ] && exit
printf 'expected: %s\nsaid: %s\nwhere all ran: %s\n' "$expected" "$all" "$none"
exit 1
