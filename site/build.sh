#!/bin/sh
# The documents as a site: site/build.sh TILEFLOW [OUT]     OUT: build-site/html if not given
# Sphinx reads the Markdown as GitHub does (MyST); pages, search and pictures work without a network, from a folder or a server.
# A warning, such as a link or an anchor that leads nowhere, is an error.  The first run makes a virtual environment in build-site/venv.
# The headers are read by Doxygen (Debian's), into OUT/api; links.py then follows all links of both.
set -eu
[ $# -ge 1 ] || { echo "usage: $0 TILEFLOW [OUT]" >&2; exit 2; }
tool=$(realpath "$1")
root=$(realpath "$(dirname "$0")/..")
out=$(realpath -m "${2:-$root/build-site/html}")
command -v doxygen >/dev/null || { echo "$0: doxygen is missing: apt-get install doxygen" >&2; exit 2; }
venv=$root/build-site/venv
if ! cmp -s "$root/site/requirements.txt" "$venv/made-of"; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q -r "$root/site/requirements.txt"
  cp "$root/site/requirements.txt" "$venv/made-of"
fi
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
python3 "$root/site/stage.py" "$tool" "$stage"
"$venv/bin/sphinx-build" -q -W --keep-going -b html -c "$root/site" -d "$stage/.trees" "$stage" "$out"
mkdir -p "$out/api"
version=$(sed -n 's/.*TILEFLOW_VERSION "\(.*\)".*/\1/p' "$root/include/tileflow/version.h")
(cd "$root" && { cat site/Doxyfile && printf 'PROJECT_NUMBER = %s\nOUTPUT_DIRECTORY = "%s"\nHTML_OUTPUT = api\n' "$version" "$out"; } | doxygen -)
python3 "$root/site/links.py" "$out"
echo "$out/index.html"
