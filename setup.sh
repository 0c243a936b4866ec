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
  say "installing $need(a minute or two)"
  as_root apt-get -qq update
  # shellcheck disable=SC2086 # one word a package
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y -o Dpkg::Use-Pty=0 install --no-install-recommends $need >/dev/null
}

# What the build says becomes how far it is: on a terminal on one line, otherwise a line now and then.
progress() {
  last=0
  while IFS= read -r line; do
    case $line in
    '['*'%]'*) percent=${line#'['} && percent=${percent%%'%'*} && percent=$((percent)) ;;
    *) continue ;;
    esac
    if [ -t 1 ]; then
      printf '\rsetup: %d %%' "$percent"
    elif [ "$percent" -ge $((last + 20)) ]; then
      say "$percent %"
      last=$((percent / 20 * 20))
    fi
  done
  [ ! -t 1 ] || printf '\r\033[K'
}

build() {
  log=$build/setup.log
  if ! { mkdir -p "$build" && : >"$log"; } 2>/dev/null; then
    say "cannot write to $build/: name another folder, as in TF_BUILD=/tmp/tileflow $0" >&2
    return 1
  fi
  say "building into $build/: two to three minutes on two cores, where nothing is built yet ($log has all of it)"
  rm -f "$build/setup.done"
  { cmake -S . -B "$build" && cmake --build "$build" -j "$(nproc)" && : >"$build/setup.done"; } 2>&1 | tee "$log" | progress
  if [ ! -e "$build/setup.done" ]; then
    cat "$log" >&2
    say "the build failed" >&2
    return 1
  fi
  say "done: $build/tileflow"
}

# All tests; then why some did not run, as they say it themselves.
run_tests() {
  say "testing: from three minutes on two cores on, and more with what packages-ci.txt lists"
  rm -f "$build/setup.done"
  { ctest --test-dir "$build" -j "$(nproc)" --output-on-failure && : >"$build/setup.done"; } 2>&1 | tee "$build/test.log"
  sh tests/skipped.sh "$build" | while IFS= read -r line; do say "$line"; done
  [ -e "$build/setup.done" ]
}

case ${1:-} in
'' | --test) ;;
--ci) install_packages packages-ci.txt && exit ;;
*) echo "usage: $0 [--test | --ci]" >&2 && exit 2 ;;
esac
install_packages packages.txt
build
[ "${1:-}" != --test ] || run_tests
