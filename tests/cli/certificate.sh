#!/bin/sh
# tileflow-certify as a command: its help, what it says of certificates that are right, damaged, short, and of none; exit statuses.
#   tests/cli/certificate.sh TILEFLOW CERTIFY
set -u
. "$(dirname "$0")/../lib.sh"
certify=$(realpath "$2") && cd "$dir" || exit 2

# said STATUS TEXT ARGUMENT...: the checker ends with that status and says something that matches the text.
said() {
  want=$1 text=$2
  shift 2
  "$certify" "$@" >out 2>&1 </dev/null
  status=$?
  [ $status -eq "$want" ] && grep -q -e "$text" out && return
  echo "tileflow-certify $*: status $status, not $want, or no '$text' in:"
  cat out
  failed=$((failed + 1))
}

for objective in latency energy edp traffic; do
  "$tool" solve "$root/arch-specs/edge.yaml" "$root/workloads/gemm.yaml" --set M=61 --set N=7 --set K=90 --objective $objective \
    --evals 3000 --threads 2 --quiet --certificate $objective.cert || exit 1
  said 0 'no mapping of the space costs less than' $objective.cert
done
"$certify" - <latency.cert >out || failed=$((failed + 1))
cp latency.cert c
sed 's/^value .*/value 1/' c >d && said 1 'line [0-9]*: the mapping costs .*, not 1$' d
sed 's/^floor .*/floor 1/' c >d && said 1 'the floor is' d
sed 's/^bound .*/bound 1e9/' c >d && said 1 'is proved' d
sed 's/^bound .*/bound 1/' c >d && said 1 'the bound is not 1$' d
sed 's/^dim m .*/dim m 62/' c >d && said 1 'no certificate' d
sed '$d' c >d && said 1 'the file ends before the end' d
sed 's/^end .*/end 0123456789abcdef/' c >d && said 1 'not those that were written' d
{ cat c && echo more; } >d && said 1 'lines follow the end' d
sed 's/certificate 2/certificate 3/' c >d && said 1 "'3' stands where '2' should" d
sed 's/ read [0-9]*/ read 0/' c >d && said 1 'a rate of 0' d
sed 's/ read [0-9]*/ read 99999999999999999999/' c >d && said 1 'more than 18 digits' d
sed 's/^tile DRAM for/tile DRAM for m=9999999 m=9999999/' c >d && said 1 'beyond the end' d
tr '\n' ' ' <c >d && said 1 'too long, or without an end' d
head -c 100000 /dev/zero >d && said 1 'no certificate' d
: >d && said 1 'the file ends before the head' d
said 2 'cannot read' nowhere.cert
said 2 'usage: tileflow-certify' a b c
said 0 'Exit status: 0 if it is one' --help
[ $failed -eq 0 ]
