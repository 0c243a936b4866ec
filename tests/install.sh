#!/bin/sh
# The installed library serves an example program, found through CMake and through pkg-config.
set -e
build=$1
here=$(cd "$(dirname "$0")/.." && pwd)
stage=$build/install-test
rm -rf "$stage"
cmake --install "$build" --prefix "$stage/root" > /dev/null
args="$here/arch-specs/edge.yaml $here/workloads/attention/g1.yaml $here/workloads/dataflows/edge/attention-flat-rgran.yaml"
if grep -q 'TF_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then
  echo "install: files are in place (a sanitized library is not linked by others)"
  exit 0
fi
cmake -S "$here/examples" -B "$stage/example" -DCMAKE_PREFIX_PATH="$stage/root" > /dev/null
cmake --build "$stage/example" > /dev/null
"$stage/example/eval" $args
pc=$(dirname "$(find "$stage/root" -name tileflow.pc)")
PKG_CONFIG_PATH=$pc; export PKG_CONFIG_PATH
cc -std=c17 "$here/examples/eval.c" -o "$stage/eval-pc" \
  $(pkg-config --define-variable=prefix="$stage/root" --cflags --libs tileflow)
LD_LIBRARY_PATH=$(dirname "$pc") "$stage/eval-pc" $args
