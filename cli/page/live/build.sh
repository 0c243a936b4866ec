#!/bin/sh
# The model as WebAssembly, for pages whose files one edits (eval --html PAGE --live): cli/page/live/build.sh [OUT]
# Writes OUT (build-live/live.txt if not given), gzip in base64, and OUT.licences; then cmake -DTF_LIVE=OUT puts it into tileflow.
# Needs Debian's emscripten and curl: libyaml and Jansson, which Debian has for no WebAssembly, are compiled from its sources.
set -eu
cd "$(dirname "$0")/../../.."
out=$(realpath -m "${1:-build-live/live.txt}")
work=$PWD/build-live
mkdir -p "$work/include" "$work/objects" "$(dirname "$out")"
command -v emcc >/dev/null || { echo "live: emcc is missing: apt-get install emscripten" >&2; exit 1; }

# source FOLDER FILE DIGEST: unpacked below $work
source_of() {
  [ -f "$work/$2" ] || curl -sSf -o "$work/$2" "http://deb.debian.org/debian/pool/main/$1/$2"
  echo "$3  $work/$2" | sha256sum -c --quiet
  tar -xzf "$work/$2" -C "$work"
}
source_of liby/libyaml libyaml_0.2.5.orig.tar.gz fa240dbf262be053f3898006d502d514936c818e422afdcf33921c63bed9bf2e
source_of j/jansson jansson_2.14.orig.tar.gz c739578bf6b764aa0752db9a2fdadcfe921c78f1228c7ec0bb47fa804c55d17b
yaml=$work/libyaml-0.2.5 jansson=$work/jansson-2.14
printf '#define YAML_VERSION_%s\n' 'MAJOR 0' 'MINOR 2' 'PATCH 5' 'STRING "0.2.5"' >"$work/include/config.h"
printf '#define %s\n' 'HAVE_STDINT_H 1' 'HAVE_LOCALE_H 1' 'INITIAL_HASHTABLE_ORDER 3' >"$work/include/jansson_private_config.h"
cp "$jansson/android/jansson_config.h" "$jansson/src/jansson.h" "$work/include/"

# What evaluates a mapping and writes what pages show of it; what is not reached is left out at the link.
{
  ls base/*.c cli/page/page_mapping.c cli/page/page.c cli/page/live/live.c cli/report/*.c cli/plot/*.c cli/text.c cli/table.c cli/wrap.c
  find model -name '*.c' ! -path 'model/import/*'
  ls "$yaml"/src/api.c "$yaml"/src/loader.c "$yaml"/src/parser.c "$yaml"/src/reader.c "$yaml"/src/scanner.c "$jansson"/src/*.c
} >"$work/list"
export yaml work
# shellcheck disable=SC2016 # expanded by the shell within
xargs -P "$(nproc)" -n 1 sh -c 'object=$work/objects/$(echo "$1" | tr / _).o
  emcc -O2 -std=gnu17 -DNDEBUG -DHAVE_CONFIG_H -D_GNU_SOURCE -fvisibility=hidden -ffp-contract=off -I. -Iinclude -I"$yaml/include" \
    -I"$work/include" -w -c "$1" -o "$object"' sh <"$work/list"
emcc -O2 -sSTANDALONE_WASM --no-entry -sALLOW_MEMORY_GROWTH -sEXPORTED_FUNCTIONS=_live_eval,_malloc,_free \
  -o "$work/live.wasm" "$work"/objects/*.o
gzip -9n <"$work/live.wasm" | base64 -w 0 >"$out"
{
  echo "In the module: libyaml, Jansson, and of Emscripten the C library musl."
  cat "$yaml/License" "$jansson/LICENSE" /usr/share/emscripten/system/lib/libc/musl/COPYRIGHT | sed 's|\*/|* /|g'
} >"$out.licences"
echo "$out: $(wc -c <"$work/live.wasm") bytes of WebAssembly, $(wc -c <"$out") in a page"
