#!/bin/sh
# What may go wrong with the files that a command writes: full, too large, read-only, the same twice, an input.
#   outputs.sh TOOL, in the root of the sources
set -u
. "$(dirname "$0")/../lib.sh"
input="$root/examples/matmul.yaml"
both="$root/arch-specs/edge.yaml $root/workloads/gemm.yaml"
cd "$dir" || exit 2

# expect STATUS TEXT COMMAND...: the status, the text on stderr, and no file that was not there before
expect() {
  status=$1 text=$2
  shift 2
  ls -A >.before
  "$tool" "$@" >/dev/null 2>.said </dev/null
  got=$?
  ls -A | grep -v '^\.' >.after
  if [ $got -ne "$status" ]; then
    echo "tileflow $*: status $got, expected $status"
    failed=$((failed + 1))
  elif ! grep -qF -- "$text" .said; then
    echo "tileflow $*: no '$text' in:"
    cat .said
    failed=$((failed + 1))
  elif [ "$(grep -v '^\.' .before)" != "$(cat .after)" ]; then
    echo "tileflow $*: left files over: $(cat .after)"
    failed=$((failed + 1))
  fi
}

few="--evals 200"
# what was found is told as it is counted: searches rank masked workloads as if all points counted
"$tool" search "$root/arch-specs/edge.yaml" "$root/workloads/models/causal.yaml" --set seq=64 --set heads=2 --evals 3000 --strategy ga >found
told=$(sed -n 's/^latency \([0-9.]*\) x the lower bound.*/\1/p' found) counted=$(sed -n 's/^cycles  *[^ ]*  *\([0-9.]*\) x the bound.*/\1/p' found)
if [ -z "$told" ] || [ "$told" != "$counted" ] || ! grep -q skipped found; then
  echo "a masked workload: found at $told times the bound, counted at $counted"
  failed=$((failed + 1))
fi
rm -f found
# the same file twice, by other names too; devices may be given twice
expect 2 "--json and --csv name the same file" eval "$input" --json x --csv x
expect 2 "--json and --csv name the same file" eval "$input" --json x --csv ./x
expect 2 "--csv and --svg name the same file" tree "$input" --csv x --svg "$dir/x"
expect 2 "--mapping and --log name the same file" search $both $few --mapping x --log x
"$tool" eval "$input" --json /dev/null --csv /dev/null --quiet || { echo "devices are no files"; failed=$((failed + 1)); }
# over an input
cp "$input" in.yaml
ln -s in.yaml link.yaml
expect 2 "--json would overwrite 'in.yaml', which is read" eval in.yaml --json in.yaml
expect 2 "--csv would overwrite 'in.yaml', which is read" eval in.yaml --csv link.yaml
expect 2 "--mapping would overwrite 'in.yaml', which is read" solve in.yaml --mapping in.yaml
cmp -s "$input" in.yaml || { echo "an input was overwritten"; failed=$((failed + 1)); }
# a folder that is not there, that is a file, that may not be written to: told before any work
expect 1 "no/x: error[E_IO]: cannot write: No such file or directory" search $both --evals 1e12 --json no/x
expect 1 "in.yaml/x: error[E_IO]: cannot write: Not a directory" search $both --evals 1e12 --mapping in.yaml/x
expect 1 ".: error[E_IO]: cannot write: Is a directory" eval "$input" --csv .
mkdir shut && chmod 555 shut
if [ "$(id -u)" -ne 0 ]; then
  expect 1 "shut/x: error[E_IO]: cannot write: Permission denied" search $both --evals 1e12 --json shut/x
  expect 1 "shut/x: error[E_IO]: cannot write: Permission denied" export "$input" --to timeloop -o shut/x
  expect 1 "shut/x: error[E_IO]: cannot write: Permission denied" import "$root/tests/data/timeloop/case004.yaml" -o shut/x
fi
# folders that killed processes left are removed by the next one; those in use stay, and others' of such a name
mkdir -p bin tmp/tileflow-killed tmp/tileflow-living tmp/tileflow-others
for folder in killed living; do : >tmp/tileflow-$folder/in-use; done
printf '#!/bin/sh\nf=$(sed -n "s/^set output .\\(.*\\).$/\\1/p" "$1")\necho "drawn</svg>" >"$f"\n' >bin/gnuplot && chmod +x bin/gnuplot
"$tool" eval "$input" --json drawn.json --quiet
(flock 9 && TMPDIR=$dir/tmp PATH=$dir/bin:$PATH "$tool" plot drawn.json --as roofline -o drawn.svg) 9<tmp/tileflow-living/in-use
if [ ! -s drawn.svg ] || [ "$(ls tmp)" != "$(printf 'tileflow-living\ntileflow-others')" ]; then
  echo "temporary folders: $(ls tmp)"
  failed=$((failed + 1))
fi
# a full disk
echo "sweep: {name: one, method: closed, over: {l1_kib: [64, 128]}}" >one.yaml
for half in 1 2; do
  "$tool" sweep "$root/examples/edge-family.yaml" "$root/workloads/gemm.yaml" one.yaml --store $half.tfdb --shard $half/2 --quiet
done
if [ -c /dev/full ]; then
  for option in --json --csv; do
    expect 1 "/dev/full: error[E_IO]: cannot write: No space left on device" eval "$input" $option /dev/full
  done
  expect 1 "/dev/full: error[E_IO]: cannot write: No space left on device" tree "$input" --svg /dev/full
  expect 1 "/dev/full: error[E_IO]: cannot write: No space left on device" search $both $few --pareto /dev/full
  expect 1 "cannot write the log '/dev/full': No space left on device" search $both $few --log /dev/full
  expect 1 "/dev/full: error[E_IO]: cannot write: No space left on device" results 1.tfdb --point 0 --mapping /dev/full
  "$tool" eval "$input" >/dev/full 2>.said
  [ $? -eq 1 ] && grep -q "cannot write to stdout: No space left on device" .said || { echo "a full stdout is not told"; failed=$((failed + 1)); }
fi
# a log that is there already
: >old.log
expect 2 "the log 'old.log' is there already" search $both $few --log old.log
# the README of a folder has the command that makes the same again, whatever stands in names and was said of the search
cp "$root/workloads/gemm.yaml" "g'1 .yaml"
"$tool" emit "$root/arch-specs/host-template.yaml" "g'1 .yaml" --isa portable --evals 200 --seed 5 --objective edp --set M=32 -o "k o\$'" --no-test >said
grep -qF "make -C 'k o\$'" said || { echo "the next command is not quoted: $(cat said)"; failed=$((failed + 1)); }
mv "k o\$'" first
again=$(sed -n 's/^    tileflow emit /"$tool" emit --no-test /p' first/README.md)
eval "$again" >said 2>&1
diff -r first "k o\$'" || { echo "a README's command makes another folder: $again"; failed=$((failed + 1)); }
rm -rf first "k o\$'" said "g'1 .yaml"
# a file that would grow past the limit (blocks of 512 bytes)
printf '#!/bin/sh\nulimit -f 1\nexec "%s" "$@"\n' "$tool" >limited && chmod +x limited
tool="$dir/limited"
big="$root/arch-specs/edge.yaml $root/workloads/attention/g1.yaml $root/workloads/dataflows/edge/attention-flat-rgran.yaml"
expect 1 "x: error[E_IO]: cannot write: File too large" eval $big --quiet --json x
expect 1 "x: error[E_IO]: cannot write: File too large" tree $big --quiet --svg x
expect 1 "out: error[E_IO]: cannot write: File too large" emit "$input" --isa portable --no-test -o out
expect 1 "f/machine.yaml: error[E_IO]: cannot write: File too large" init f
[ ! -e f ] || { echo "init leaves a folder that it could not fill"; failed=$((failed + 1)); }
expect 1 "w.bin: error[E_IO]: cannot write: File too large" pack "$root/tests/data/onnx/random-5007.onnx" -o w.bin
expect 1 "1.tfdb: error[E_IO]: cannot " results 1.tfdb --merge 2.tfdb
"$tool" search $both --evals 20000 --quiet --log x 2>.said # the log stays: --resume takes what is in it
[ $? -eq 1 ] && grep -qF "cannot write the log 'x': File too large" .said || { echo "a log past the limit is not told"; failed=$((failed + 1)); }

echo "$failed failed"
[ $failed -eq 0 ]
