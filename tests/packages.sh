#!/bin/sh
# What would be in each package, from a staged installation of its component, without making or installing any:
# no file is missing, none is there that nobody expects, none is in two packages, and together they are the whole installation
# and the papers of packages.
#   tests/packages.sh BUILD
set -u
build=$(realpath "$1") || exit 2
cd "$(dirname "$0")/.." || exit 2
stage=$build/packages-test
rm -rf "$stage" && mkdir "$stage" || exit 2
complain() { echo "packages: $*"; : >"$stage/failed"; } # a file: some of it is said in subshells

# files FOLDER: those below it, sorted; libraries in lib, whatever this system calls it, and without the version.
files() {
  (cd "$1" && find . ! -type d) | sed 's|^\./||; s|^lib/[^/]*-linux-gnu/|lib/|; s|^lib64/|lib/|; s|\.so\.0\..*|.so.0.*|; s|/zsh/[^/]*/|/zsh/|' | LC_ALL=C sort
}

# holds COMPONENT PACKAGE: the files of the component are those of standard input, and the package's papers.
holds() {
  { sed '/^$/d' && echo "share/doc/$2/changelog.gz" && echo "share/doc/$2/copyright"; } | LC_ALL=C sort >"$stage/$1.wanted"
  cmake --install "$build" --prefix "$stage/$1" --component "$1" >"$stage/log" 2>&1 || { complain "component $1 is not installed:" && cat "$stage/log"; }
  files "$stage/$1" >"$stage/$1.is"
  diff "$stage/$1.wanted" "$stage/$1.is" >"$stage/diff" || { complain "not what $2 should hold (> is too much):" && cat "$stage/diff"; }
}

{
  printf "bin/%s\n" tileflow tileflow-certify
  find arch-specs workloads examples -type f | sed 's|^|share/tileflow/|'
  printf 'share/tileflow/%s\n' docs/results/slope.csv tests/data/onnx/mob-17.onnx tests/data/onnx/enc-17.onnx tests/data/onnx/enc-17.json tests/data/timeloop/case004.yaml
  printf 'share/%s\n' bash-completion/completions/tileflow zsh/_tileflow fish/vendor_completions.d/tileflow.fish \
    man/man1/tileflow.1.gz man/man1/tileflow-certify.1.gz
} | holds tileflow tileflow

printf 'lib/libtileflow.so.0\nlib/libtileflow.so.0.*\n' | holds library libtileflow0

{
  find include/tileflow -name '*.h'
  printf 'lib/%s\n' libtileflow.a libtileflow.so pkgconfig/tileflow.pc cmake/tileflow/tileflowConfig.cmake \
    cmake/tileflow/tileflowConfigVersion.cmake cmake/tileflow/tileflowTargets.cmake
  printf 'lib/cmake/tileflow/%s\n' "$(cd "$stage" && sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=\(.*\)/\1/p' "$build/CMakeCache.txt" | tr '[:upper:]' '[:lower:]' | sed 's/.*/tileflowTargets-&.cmake/')"
} | holds development libtileflow-dev

LC_ALL=C sort "$stage"/*.is | uniq -d >"$stage/twice"
[ -s "$stage/twice" ] && { complain "in two packages:" && cat "$stage/twice"; }
cmake --install "$build" --prefix "$stage/whole" >"$stage/log" 2>&1
files "$stage/whole" >"$stage/all"
grep -hv '^share/doc/' "$stage"/*.is | LC_ALL=C sort | diff - "$stage/all" >"$stage/diff" ||
  { complain "the packages together are not the whole installation:" && cat "$stage/diff"; }

# A wheel installs two of the components, and builds only what pyproject.toml names.
grep -ho 'install(TARGETS [a-z_-]* RUNTIME' CMakeLists.txt cmake/*.cmake | cut -d' ' -f2 | sed 's/.*/"&"/' | while read -r target; do
  grep -q "^build.targets = .*$target" pyproject.toml || complain "a wheel would install $target and not build it: build.targets of pyproject.toml"
done

# What is compressed is what stands in the sources, and has no time in it; the papers name version and licence.
manual=$stage/tileflow/share/man/man1/tileflow.1.gz
gzip -dc "$manual" | cmp -s - docs/tileflow.1 || complain "the manual page is not that of docs"
[ "$(od -An -tu4 -j4 -N4 "$manual" | tr -d ' ')" = 0 ] || complain "the manual page has a time in it"
version=$(sed -n 's/.*TILEFLOW_VERSION "\(.*\)".*/\1/p' include/tileflow/version.h)
gzip -dc "$stage/library/share/doc/libtileflow0/changelog.gz" | grep -q "^tileflow ($version) .*" || complain "the changelog is of another version"
gzip -dc "$stage/library/share/doc/libtileflow0/changelog.gz" | grep -q '^ -- .* <.*>  [A-Z][a-z][a-z], [0-9 ][0-9] ' || complain "the changelog has no date"
grep -q '^License: Expat' "$stage/library/share/doc/libtileflow0/copyright" || complain "no licence"
for text in "Permission is hereby granted" "Michael Bostock"; do # ours, and that of what pages are made with
  grep -q "$text" "$stage/tileflow/share/doc/tileflow/copyright" || complain "the licence with '$text' is missing"
done
grep -q "^## $version - 20" CHANGELOG.md || complain "CHANGELOG.md has no section of version $version"
grep -q "^version: $version$" CITATION.cff || complain "CITATION.cff is of another version"

# The staged command finds what came with it, and not what lies in the sources.
(cd / && "$stage/tileflow/bin/tileflow" example) | grep -qxF "They lie in $(realpath "$stage")/tileflow/share/tileflow." ||
  complain "the staged command does not find its files"
(cd "$stage" && "$stage/tileflow/bin/tileflow" init first --quiet && "$stage/tileflow/bin/tileflow" check first/*.yaml --quiet) ||
  complain "the staged command cannot begin"
echo "packages: $(wc -l <"$stage/all") files in $(find "$stage" -maxdepth 1 -name '*.is' | wc -l) packages"
rm -rf "$stage/whole"
[ ! -e "$stage/failed" ]
