#!/bin/sh
# Installs what packages.txt lists where it is missing (Debian), then builds into build/.
#   ./setup.sh          build
#   ./setup.sh --test   build, then run all tests
#   ./setup.sh --ci     only install what .ci/run needs beyond that (packages-ci.txt)
#   TF_BUILD            another folder than build/
set -eu
cd "$(dirname "$0")"
build=${TF_BUILD:-build}
say() { echo "setup: $*"; }

# The packages of a list that are not installed.
missing() {
  sed 's/#.*//' "$1" | while read -r package; do
    [ -n "$package" ] || continue
    state=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) || state=
    [ "$state" = "install ok installed" ] || printf '%s ' "$package"
  done
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    say "needs root, or sudo, to run: $*" >&2
    return 1
  fi
}

install_packages() {
  need=$(missing "$1")
  [ -n "$need" ] || return 0
  say "installing $need"
  as_root apt-get -qq update
  # shellcheck disable=SC2086 # one word a package
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y -o Dpkg::Use-Pty=0 install --no-install-recommends $need >/dev/null
}

build() {
  mkdir -p "$build"
  say "building into $build/"
  if ! { cmake -S . -B "$build" && cmake --build "$build" -j "$(nproc)"; } >"$build/setup.log" 2>&1; then
    cat "$build/setup.log" >&2
    say "the build failed" >&2
    return 1
  fi
  say "done: $build/tileflow"
}

case ${1:-} in
'' | --test) ;;
--ci) install_packages packages-ci.txt && exit ;;
*) echo "usage: $0 [--test | --ci]" >&2 && exit 2 ;;
esac
install_packages packages.txt
build
if [ "${1:-}" = --test ]; then
  say "testing"
  ctest --test-dir "$build" -j "$(nproc)" --output-on-failure
fi
