#!/bin/sh
# Solves every problem of the thesis's tables 3.5 and 3.6 on Edge and Cloud, with the search beside it, and writes
# docs/results/solve.csv and docs/RESULTS-search.md.  About half an hour of processor time.
#   bench/results-search.sh TILEFLOW [measure] [report] [draw]       all if none is named
# CHAIN and ATTENTION are the seconds a solve may take on two free cores, SEARCH the mappings that the search evaluates: what it
# finds is the same on every machine.  ONLY and COLUMNS measure a part anew; each row says when, and from which commit.
set -u
. "$(dirname "$0")/lib.sh"
begin "$(dirname "$0")/.." "${1:?usage: $0 TILEFLOW [measure] [report] [draw]}"
shift
[ $# -gt 0 ] || set -- measure report draw
CHAIN=${CHAIN:-10}
ATTENTION=${ATTENTION:-35}
SEARCH=${SEARCH:-300000}
COLUMNS=${COLUMNS:-exact search closed}
out=docs/results
mkdir -p $out

# fields of the JSON member `search`; bound and proved are those of the solver's space
found() {
  awk -F'[:,]' '/"search": {/ { on = 1 }
    on && /"(value|space_bound|space_proved|evaluations|seconds|stopped_by)"/ { gsub(/[ "]/, ""); v[$1] = $2 }
    END { printf "%s %s %s %s %s %s\n", v["value"], v["space_bound"], v["space_proved"], v["evaluations"], v["seconds"],
      v["stopped_by"] }' "$1"
}

# within SECONDS COMMAND...: stopped (as by Ctrl-C) when it has used what two free cores give in that time, so that
# other work on the machine does not count; leaves the CPU time used (s) and the most KiB held in variables.
within() {
  ticks=$(awk -v s="$1" -v hz="$(getconf CLK_TCK)" 'BEGIN { print 2 * s * hz }') used=0 kib=0 told=
  shift
  env --default-signal=INT "$@" 2>"$scratch/said" & # a job behind a script's back ignores SIGINT, and so does what it runs
  pid=$!
  while kill -0 $pid 2>/dev/null; do
    now=$(awk '{ sub(/.*\) /, ""); print $12 + $13 }' /proc/$pid/stat 2>/dev/null)
    held=$(awk '/VmHWM/ { print $2 }' /proc/$pid/status 2>/dev/null)
    used=${now:-$used} kib=${held:-$kib}
    [ "$used" -lt "$ticks" ] || [ -n "$told" ] || { kill -INT $pid && told=yes; } # a second one ends it without a result
    sleep 0.05
  done
  wait $pid
  used=$(awk -v t="$used" -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.2f", t / hz }')
}

# run LIMIT COMMAND ARGUMENT...: fields, half the CPU seconds in place of the clock's, and the most KiB held;
# "- - - - - - KiB" where nothing was found
run() {
  limit=$1 command=$2
  shift 2
  rm -f "$scratch/r.json"
  within "$limit" "$tool" "$command" "$@" --threads 2 --quiet --json "$scratch/r.json"
  if [ -s "$scratch/r.json" ]; then
    echo "$(found "$scratch/r.json") $used $kib" | awk '{ print $1, $2, $3, $4, $7 / 2, $6, $8 }'
  else
    echo "- - - - - - $kib"
  fi
}

# whether the tool solves in closed form
closed() { "$tool" solve --help | grep -q closed; }

problems() {
  for arch in edge cloud; do
    for g in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $arch gemm-chain/g$g "$CHAIN"; done
    for c in 1 2 3 4 5 6 7 8; do echo $arch conv-chain/c$c "$CHAIN"; done
    for g in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $arch attention/g$g "$ATTENTION"; done
  done
}

# the fields of an earlier run, "-" for those there are none of
before() { awk -F, -v a="$1" -v w="$2" '$1 == a && $2 == w { v = $0 } END { gsub(",", " ", v); print v == "" ? "- - - - - - - - - - - - - - -" : v }' "$scratch/before"; }

# Problems whose "architecture workload" does not match ONLY, and columns that COLUMNS (exact search closed) does not
# name, keep what an earlier run found; date and commit are those of exact and search.
measure() {
  cp $out/solve.csv "$scratch/before" 2>/dev/null || : >"$scratch/before"
  echo "architecture,workload,exact,bound,proved,evaluations,seconds,stopped_by,kib,search,search_seconds,closed,search_evaluations,date,commit" \
    >"$scratch/solve.csv"
  problems | while read -r arch work limit; do
    files="arch-specs/$arch.yaml workloads/$work.yaml"
    # shellcheck disable=SC2046 # fifteen fields
    set -- $(before "$arch" "$work")
    exact="$3 $4 $5 $6 $7 $8 $9" search="${10} ${11}" form=${12} tried=${13:--} when="${14:--} ${15:--}"
    if echo "$arch $work" | grep -Eq "${ONLY:-.}"; then
      case $COLUMNS in *exact*search*) when="$(date -u +%F) $(commit_now)" ;; esac
      # shellcheck disable=SC2046,SC2086 # two files, seven fields
      case $COLUMNS in *exact*) exact=$(run "$limit" solve $files) ;; esac
      # shellcheck disable=SC2046,SC2086
      case $COLUMNS in *search*) set -- $(run 600 search $files --seed 1 --evals "$SEARCH") && search="$1 $5" tried=$4 ;; esac
      # shellcheck disable=SC2046,SC2086
      case $COLUMNS in *closed*) closed && set -- $(run "$limit" solve $files --method closed) && form=$1 ;; esac
    fi
    echo "$arch $work $exact $search $form $tried $when" | tr ' ' ',' >>"$scratch/solve.csv"
  done
  cp "$scratch/solve.csv" $out/solve.csv
}

page() { sh bench/results-search-table.sh <$out/solve.csv && python3 bench/thesis-figures.py "$tool" report; }

report() { into docs/RESULTS-search.md page; }

draw() { sh plots/figures.sh "$tool"; }

for part in "$@"; do
  case $part in
    measure | report | draw) $part ;;
    *) echo "$0: no part '$part'" >&2; exit 2 ;;
  esac
done
