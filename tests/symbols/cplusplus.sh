#!/bin/sh
# A C++ program that includes all public headers and names each of their functions links.  Exit 77: no C++ compiler.
#   tests/symbols/cplusplus.sh BUILD
set -eu
command -v g++ >/dev/null || { echo "SKIP: no g++"; exit 77; }
build=$(realpath "$1")
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
{
  for header in include/tileflow/*.h; do echo "#include \"$header\""; done
  echo 'void (*all[])() = {'
  nm -D --defined-only "$build/libtileflow.so" | sed -n 's/.* T \(tf_[a-z0-9_]*\)$/(void (*)())\&\1,/p'
  echo '}; int main() { return all[0] == nullptr; }'
} >"$dir/all.cpp"
g++ -std=c++11 -Wall -Wextra -Werror -Wno-cast-function-type -I. -Iinclude "$dir/all.cpp" -o "$dir/all" "$build/libtileflow.so"
LD_LIBRARY_PATH=$build "$dir/all"
