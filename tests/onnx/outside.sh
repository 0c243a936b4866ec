#!/bin/sh
# Weights in other files: `pack` reads regular files below the model's folder, and refuses all else at once, above all what
# leads out of the folder or would make it wait.
#   tests/onnx/outside.sh TILEFLOW
tool=$(realpath "${1:?usage: $0 TILEFLOW}") || exit 2
model=$(realpath "$(dirname "$0")/../bad/import-onnx/pack_no_file.onnx") || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/model" && cp "$model" "$work/model/m.onnx" && cd "$work/model" || exit 2
head -c 144 /dev/zero >"$work/secret"
failed=0

# STATUS WORDS: what pack ends with and says of the file as it is now.
expect() {
  timeout 20 "$tool" pack m.onnx -o w.bin >said 2>&1
  status=$?
  if [ "$status" -ne "$1" ] || ! grep -q "$2" said; then
    echo "pack ended with $status, expected $1 and '$2': $(cat said)"
    failed=1
  fi
  if [ "$1" -ne 0 ] && [ -n "$(ls | grep -v -e m.onnx -e said -e there_is_none)" ]; then
    echo "left behind: $(ls)"
    failed=1
  fi
  rm -rf w.bin there_is_none.bin
}

expect 2 'No such file'
ln -s "$work/secret" there_is_none.bin
expect 2 'a symbolic link'
ln -s m.onnx there_is_none.bin
expect 2 'a symbolic link'
mkfifo there_is_none.bin
expect 2 'no regular file'
mkdir there_is_none.bin
expect 2 'no regular file'
head -c 143 /dev/zero >there_is_none.bin
expect 2 'needs 144 bytes from byte 0 on of a file of 143'
cp "$work/secret" there_is_none.bin
expect 0 'w.bin: '
cd .. && cp secret model/there_is_none.bin && ln -s model other && cd other && rm -f w.bin
expect 0 'w.bin: ' # the model's own folder may be reached through one
[ $failed -eq 0 ] && echo "outside: all refused, or read"
exit $failed
