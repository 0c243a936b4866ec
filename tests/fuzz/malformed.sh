#!/bin/sh
# Runs a fuzzer, built without libFuzzer, over the malformed inputs of tests/bad.
#   tests/fuzz/malformed.sh FUZZER
set -u
[ $# -eq 1 ] || { echo "usage: $0 FUZZER" >&2; exit 2; }
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$(dirname "$0")/../.." || exit 2
sh tests/bad/unpack.sh "$dir" || exit 2
"$1" "$dir"/tests/bad/*/*.yaml
