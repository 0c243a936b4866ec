#!/bin/sh
# Every C file, and every script of a page, that git tracks is as clang-format writes it; names those that are not, and fails.
#   tests/format.sh [--write]     --write: formats them instead
# Versions differ in what they write: the one that counts is Debian 12's.  Exit status 77: it is not here.
set -u
version=14
cd "$(dirname "$0")/.." || exit 2
tool=$(command -v clang-format-$version || command -v clang-format) || tool=
case $([ -z "$tool" ] || "$tool" --version) in
*"version $version."*) ;;
*) echo "SKIP: no clang-format $version" && exit 77 ;;
esac
files=$(git ls-files -- base certify model grad search sweep codegen planner net train tune cli include tests bench examples 2>/dev/null | grep -E '\.([ch]|js)$')
[ -n "$files" ] || { echo "SKIP: no git checkout" && exit 77; }
if [ "${1:-}" = --write ]; then
  # shellcheck disable=SC2086 # file names hold no spaces
  "$tool" -i $files
  exit
fi

# shellcheck disable=SC2086
wrong=$("$tool" --dry-run $files 2>&1 | sed -n 's/^\([^ :]*\):.*-Wclang-format-violations.*/\1/p' | sort | uniq -c)
if [ -n "$wrong" ]; then
  echo "places that clang-format writes otherwise (tests/format.sh --write):"
  echo "$wrong"
  echo "$(echo "$wrong" | wc -l) of $(echo "$files" | wc -l) files"
  exit 1
fi
echo "format: $(echo "$files" | wc -l) files"
