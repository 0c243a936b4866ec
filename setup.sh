#!/bin/sh
# Installs what packages.txt lists where it is missing, configures and builds into build/.
# Usage: ./setup.sh [--test]     --test: run the tests too.
set -e
cd "$(dirname "$0")"

missing() {
  sed 's/#.*//' "$1" | while read -r package; do
    [ -z "$package" ] && continue
    dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q 'install ok installed' ||
      printf '%s ' "$package"
  done
}

install() {
  need=$(missing "$1")
  [ -z "$need" ] && return 0
  echo "setup: installing $need"
  as_root=
  [ "$(id -u)" = 0 ] || as_root=sudo
  $as_root apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $need > /dev/null
}

install packages.txt
if [ "$1" = --ci ]; then
  install packages-ci.txt
  exit 0
fi
echo "setup: configuring and building into build/"
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release > /dev/null
cmake --build build -j "$(nproc)" | grep -E 'warning|error|Error' || true
test -x build/tileflow || { cmake --build build; exit 1; }
if [ "$1" = --test ]; then
  ctest --test-dir build --output-on-failure
fi
