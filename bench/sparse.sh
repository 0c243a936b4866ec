#!/bin/sh
# Products of which zeros are skipped beside those of the same shape without zeros: kernels that are planned and emitted alike, packed
# beforehand, run in turn; the median of ROUNDS runs of each, in processor time.  CSV: shape, pattern, both in ms, and their ratio.
#   bench/sparse.sh TILEFLOW [ROUNDS]
tool=$(realpath "${1:?usage: $0 TILEFLOW [ROUNDS]}") || exit 2
rounds=${2:-5}
cd "$(dirname "$0")/.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
sed 's/, skipping: \[{on: \[W\]}\]//; /^  tensors:$/d; /^    W: /d' examples/pruned-cpu.yaml >"$work/dense.yaml"

emit() { # folder file settings..
  folder=$work/$1 file=$2
  shift 2
  "$tool" emit "$file" "$@" --no-test -o "$folder" >"$work/said" 2>&1 && make -s -C "$folder" bench test >"$work/said" 2>&1 ||
    { cat "$work/said" >&2; exit 1; }
}
# ms of one run, packed beforehand
time_of() { "$work/$1/bench" | sed -n 's/.*, packed beforehand.* \([0-9.e+-]*\) s of processor time$/\1/p' | awk '{print $1 * 1000}'; }
median() { sort -g | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

echo "m,n,k,pattern,sparse_ms,dense_ms,ratio"
while read -r m n k keep high across; do
  rm -rf "$work/sparse" "$work/dense"
  if [ -n "$high" ]; then # blocks
    pattern="$keep of ${high}x$across"
    emit sparse examples/pruned-blocks-cpu.yaml --set M="$m" --set N="$n" --set K="$k" --set share="$keep" \
      --set high="$high" --set across="$across"
  else
    pattern="$keep:4"
    emit sparse examples/pruned-cpu.yaml --set M="$m" --set N="$n" --set K="$k" --set keep="$keep"
  fi
  emit dense "$work/dense.yaml" --set M="$m" --set N="$n" --set K="$k"
  : >"$work/s"; : >"$work/d"
  for _ in $(seq "$rounds"); do
    time_of sparse >>"$work/s"
    time_of dense >>"$work/d"
  done
  s=$(median <"$work/s") d=$(median <"$work/d")
  echo "$m,$n,$k,$pattern,$s,$d,$(awk "BEGIN {printf \"%.2f\", $s / $d}")"
done <<'T'
512 512 512 2
512 512 512 1
1024 64 1024 2
1024 64 1024 1
2048 256 768 2
96 512 384 2
512 512 512 0.5 16 16
512 512 512 0.25 16 16
512 512 512 0.1 16 16
1024 64 1024 0.5 16 16
1024 64 1024 0.25 16 16
1024 64 1024 0.1 16 16
2048 256 768 0.25 32 32
512 512 512 0.25 8 8
512 512 512 0.25 4 4
512 512 512 0.25 1 64
T
