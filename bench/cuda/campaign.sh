#!/bin/sh
# Random kernels in the emulator, of one version, in one process that goes on where it was ended: 500 of each of sm_80 and sm_90a, of which
# about half are drawn by the oracle, some 110 are convolutions and 50 networks planned in groups (tests/kernels/cuda/random.sh).
# FOLDER keeps the programs of the version, a log for each lot, and tally.csv: `isa,type,kind,seed,kernels,right|wrong|refused,mechanisms`.
# Kinds go round, so that what there is has their shares at any time.  Every lot of a version has the seeds that follow from BASE.
# usage: nice campaign.sh FOLDER BASE      in a clone that is built in build/; then, from anywhere, nice FOLDER/campaign.sh FOLDER BASE
set -u
folder=$1 base=$2
[ -x "$folder/build/tileflow" ] || {
  mkdir -p "$folder/build/tests" "$folder/log"
  git rev-parse HEAD >"$folder/version"
  cp -r "$(dirname "$0")/campaign.sh" tests arch-specs workloads "$folder/"
  cp build/tests/cuda_test "$folder/build/tests/"
  cp build/tileflow "$folder/build/"
}
cd "$folder" || exit 2
touch done.txt tally.csv

# lot ISA KIND FIRST N
lot() {
  name="$1 $2 $3 $4"
  grep -qx "$name" done.txt && return
  rm -f lot.csv
  what=$2 groups='' types=''
  [ "$what" = mixed ] && what=
  [ "$1" = sm_90a ] && groups=sm_90a && [ "$2" != net ] && types="bf16 f16 int8 tf32 f32 f8"
  # shellcheck disable=SC2086 # words
  TALLY=$PWD/lot.csv CUDA_TEST=build/tests/cuda_test GROUPS_ISA=$groups KIND=$what \
    sh tests/kernels/cuda/random.sh build/tileflow "$4" "$3" $types >"log/$1-$2-$3.txt" 2>&1
  cat lot.csv >>tally.csv
  grep -H FAIL "log/$1-$2-$3.txt"
  echo "$name" >>done.txt
}

round=0
while [ $round -lt 10 ]; do
  for isa in sm_80 sm_90a; do
    lot $isa mixed $((base + round * 100)) 32
    lot $isa conv $((base + 10000 + round * 100)) 7
    lot $isa net $((base + 20000 + round * 100)) 5
    lot $isa gated $((base + 30000 + round * 100)) 3
    lot $isa depth $((base + 40000 + round * 100)) 3
  done
  round=$((round + 1))
done
cut -d, -f1,6 tally.csv | sort | uniq -c
! grep -q ,wrong, tally.csv
