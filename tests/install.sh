#!/bin/sh
# An installed tree serves C programs: the example builds through CMake's find_package and
# through pkg-config, with the static and the shared library, and counts the words that
# examples/matmul.yaml says it must.  The other example writes the kernel that the installed
# command writes.  Every public header compiles alone.  What the examples of --help name is there.
#   tests/install.sh BUILD [CC]
set -eu
build=$(realpath "$1")
cc=${2:-cc}
cd "$(dirname "$0")/.."
stage=$build/install-test
prefix=$stage/usr
rm -rf "$stage"
mkdir -p "$stage"
cmake --install "$build" --prefix "$stage/before" >"$stage/log"
mv "$stage/before" "$prefix" # an installed tree may be moved

cmake -S examples -B "$stage/cmake" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" \
  >>"$stage/log"
cmake --build "$stage/cmake" >>"$stage/log"

lib=$(dirname "$(find "$prefix" -name libtileflow.a)")
PKG_CONFIG_PATH=$lib/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # flags are meant to split
"$cc" -std=c17 examples/eval.c -o "$stage/eval-pc" $(pkg-config --cflags --libs tileflow)
# shellcheck disable=SC2046
"$cc" -std=c17 examples/eval.c -o "$stage/eval-pc-static" $(pkg-config --cflags tileflow) \
  "$lib/libtileflow.a" $(pkg-config --static --libs-only-l tileflow | sed 's/-ltileflow//')

for header in "$prefix"/include/tileflow/*.h; do
  printf '#include "%s"\nint main(void) { return 0; }\n' "$header" |
    "$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror -I"$prefix/include" -fsyntax-only -x c -
done

failed=0
for program in cmake/eval cmake/eval_shared eval-pc eval-pc-static; do
  said=$(LD_LIBRARY_PATH=$lib "$stage/$program" examples/matmul.yaml) || failed=1
  case $said in
  *" 24576 words through DRAM") ;;
  *)
    echo "$program: expected 24576 words, got: $said"
    failed=1
    ;;
  esac
done

files="arch-specs/host-template.yaml workloads/gemm-chain/g1.yaml"
# shellcheck disable=SC2086
LD_LIBRARY_PATH=$lib "$stage/cmake/emit" "$stage/kernel" $files && "$prefix/bin/tileflow" emit $files --no-test -o "$stage/same" &&
  diff -r -x README.md -x manifest.json "$stage/kernel" "$stage/same" || failed=1 # these two name the command

# The installed command finds what was installed with it.
(cd / && "$prefix/bin/tileflow" example edge) | cmp - arch-specs/edge.yaml || failed=1
(cd / && "$prefix/bin/tileflow" example) | grep -qxF "They lie in $(realpath "$prefix")/share/tileflow." || failed=1

# Shells find what they complete.
for file in bash-completion/completions/tileflow zsh/site-functions/_tileflow fish/vendor_completions.d/tileflow.fish; do
  grep -q tileflow "$prefix/share/$file" || { echo "$file is not installed"; failed=1; }
done

# The files that the examples of --help name are installed, too.
tool=$prefix/bin/tileflow
for command in $("$tool" --help | sed -n 's/^  tileflow \([a-z]*\) .*/\1/p'); do
  for word in $("$tool" "$command" --help | sed '1,/^example/d'); do
    case $word in arch-specs/* | workloads/* | examples/* | docs/* | tests/*) ;; *) continue ;; esac
    [ -e "$prefix/share/tileflow/$word" ] && continue
    echo "the example of $command names $word, which is not installed"
    failed=1
  done
done
[ $failed -eq 0 ] && echo "install: $said"
exit $failed
