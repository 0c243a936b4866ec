#!/bin/sh
# Pages of HTML, without a browser: each is written, loads nothing, holds valid data with every memory, unit, op and tensor of
# its input, stays small, is not ended by a text of the user's, and is written over nothing.
#   page.sh TILEFLOW, in the root of the sources
set -u
. "$(dirname "$0")/../lib.sh"
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
cd "$root" || exit 2

fail() {
  echo "$*"
  failed=$((failed + 1))
}
# page NAME COMMAND...: writes NAME.html
page() {
  name=$1
  shift
  "$tool" "$@" --html "$dir/$name.html" --quiet 2>"$dir/err" || { fail "tileflow $*"; cat "$dir/err"; }
}
# read NAME CHECK: a Python expression over the data d and the whole text t
read_page() {
  python3 tests/page/read.py "$dir/$1.html" "$2" || fail "$1: not so: $2"
}

edge="arch-specs/edge.yaml workloads/attention/g1.yaml"
flat=workloads/dataflows/edge/attention-flat-rgran.yaml
# shellcheck disable=SC2086 # a word a file
{
  page eval eval $edge $flat
  page best best $edge --evals 3000
  page diff diff $edge workloads/dataflows/edge/attention-layerwise.yaml $flat
}
page plan plan arch-specs/edge.yaml tests/data/onnx/mob-17.onnx --evals 200
"$tool" sweep examples/sweep.yaml --store "$dir/s.tfdb" --quiet || fail "the sweep"
page results results "$dir/s.tfdb"

for name in eval best; do
  read_page $name "len(t) < 1000000"
  read_page $name "d['kind'] == '$name'"
  read_page $name "[l['name'] for l in d['mapping']['report']['levels']] == ['DRAM', 'L1', 'L0']"
  read_page $name "[u['name'] for u in d['mapping']['report']['compute']] == ['matrix', 'vector']"
  read_page $name "sorted(n['op'] for n in d['mapping']['tree'] if 'op' in n) == sorted('SXDEZPO')"
  read_page $name "sorted(x['name'] for x in d['mapping']['tensors']) == sorted('QKVSXDEZPO')"
  read_page $name "{f['name'] for f in d['mapping']['files']} >= set('$edge'.split())"
done
# What the page says of words is what the counters say, edge by edge.
read_page eval "all(abs(sum(e['down'] for e in d['mapping']['edges'] if e['from'] == i) - l['read']) < 1 for i, l in enumerate(d['mapping']['report']['levels']))"
read_page eval "all(abs(sum(e['up'] for e in d['mapping']['edges'] if e['from'] == i) - l['update']) < 1 for i, l in enumerate(d['mapping']['report']['levels']))"
read_page eval "d['mapping']['time']['cycles'] == d['mapping']['report']['cycles']"
read_page diff "d['a']['report']['cycles'] > 5 * d['b']['report']['cycles']"
# Every group but the last passes something on, and nothing passes backwards.
read_page plan "sum(len(g['ops']) for g in d['plan']['groups']) == 15 and {p['first'] for p in d['passing']} == set(range(len(d['plan']['groups']) - 1))"
read_page plan "all(p['first'] < p['last'] < len(d['plan']['groups']) for p in d['passing'])"
read_page results "len(d['mappings']) == d['points_all'] == len(d['points'].splitlines()) - 1"

# Nothing is written over, and nothing is left when that is refused.
before=$(cksum "$dir/eval.html")
# shellcheck disable=SC2086
"$tool" eval $edge $flat --html "$dir/eval.html" >"$dir/out" 2>"$dir/err"
[ $? -eq 2 ] && grep -q 'is there already' "$dir/err" && [ "$before" = "$(cksum "$dir/eval.html")" ] || fail "a page was written over"
# shellcheck disable=SC2086
"$tool" eval $edge $flat --html "$dir/eval.html" --force --quiet || fail "--force does not write"
# shellcheck disable=SC2086
"$tool" eval $edge $flat --html - 2>&1 | cmp -s - "$dir/eval.html" || fail "stdout has another page"

# Texts of the user's that would end the script, or begin one.
evil='</script><script>alert(1)</script><!--'
cat >"$dir/<b>&amp;.yaml" <<YAML
# $evil
architecture:
  name: "$evil & <b>"
  clock: 1 GHz
  memories:
  - {name: D, bandwidth: 8 GB/s}
  - {name: B, capacity: 64 KiB, bandwidth: {read: 64, write: 64}}
  compute:
  - {name: u, ops: [mac], below: B}
workload:
  name: "</title>$evil"
  dims: {m: 8, k: 8}
  ops: ["C[m] += A[m,k] * B[k]"]
YAML
page evil eval "$dir/<b>&amp;.yaml" --evals 500
read_page evil "'</script>' in d['mapping']['report']['architecture'] and d['mapping']['report']['workload'].startswith('</title>')"
read_page evil "d['mapping']['files'][0]['name'].endswith('<b>&amp;.yaml') and '# </script>' in d['mapping']['files'][0]['text']"
read_page evil "'alert(1)</script>' not in t and '<b>' not in t.split('<script')[0] and t.count('</title>') == 1"

# A long run and a large network give small pages, which say what they leave out.
cat >"$dir/long.yaml" <<YAML
architecture:
  name: long
  clock: 1 GHz
  memories:
  - {name: DRAM, bandwidth: 8 GB/s}
  - {name: B, capacity: 64 KiB, bandwidth: {read: 64, write: 64}}
  - {name: R, capacity: 64, bandwidth: {read: 64, write: 64}}
  compute:
  - {name: one, ops: [mac], below: R}
workload:
  name: long
  dims: {m: 1000, n: 1000, k: 2}
  ops: ["C[m,n] += A[m,k] * B[k,n]"]
mapping: |
  DRAM for m=1000
    B for n=1000
      R for k=2
        op C
YAML
page long eval "$dir/long.yaml"
read_page long "len(t) < 3000000 and not d['mapping']['time']['whole']"
{
  printf 'architecture:\n  name: a\n  clock: 1 GHz\n  memories:\n  - {name: D, bandwidth: 8 GB/s}\n  - {name: B, capacity: 64 KiB, bandwidth: 64 GB/s}\n'
  printf '  compute:\n  - {name: u, ops: [add], below: B}\nworkload:\n  name: chain\n  dims: {m: 16}\n  ops:\n  - "T0[m] = X[m] + Y[m]"\n'
  i=1
  while [ $i -lt 300 ]; do
    printf '  - "T%d[m] = T%d[m] + Y[m]"\n' $i $((i - 1))
    i=$((i + 1))
  done
} >"$dir/chain.yaml"
page chain plan "$dir/chain.yaml" --evals 20 --max-ops 3
read_page chain "len(t) < 2000000 and sum(len(g['ops']) for g in d['plan']['groups']) == 300"

# The trace that Perfetto opens: the same intervals as the CSV's, a thread for each resource and what happens there at once.
pipe=workloads/dataflows/edge/attention-tileflow.yaml
# shellcheck disable=SC2086
{
  "$tool" eval $edge $pipe --trace "$dir/t.json" --quiet || fail "--trace FILE.json"
  "$tool" eval $edge $pipe --trace "$dir/t.csv" --quiet || fail "--trace FILE.csv"
}
spans=$(grep -c '^\(load\|work\|store\),' "$dir/t.csv")
python3 - "$dir/t.json" "$spans" <<'PYTHON' || fail "the trace as JSON"
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
spans = [e for e in events if e["ph"] == "X"]
names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
assert len(spans) == int(sys.argv[2]), len(spans)
assert all(e["dur"] >= 0 and e["tid"] in names for e in spans)
assert {names[e["tid"]] for e in spans if e["cat"] == "work"} == {"matrix", "vector"}
# nothing of a thread overlaps, or Perfetto drops it
for tid in names:
    own = sorted((e["ts"], e["ts"] + e["dur"]) for e in spans if e["tid"] == tid)
    assert all(a[1] <= b[0] * (1 + 1e-8) + 1e-9 for a, b in zip(own, own[1:])), names[tid]
# what memories hold comes back to nothing
held = {}
for e in events:
    if e["ph"] == "C":
        held[e["name"], *e["args"]] = sum(e["args"].values())
assert len(held) > 10 and all(abs(v) < 1e-6 for v in held.values()), held
PYTHON

# The model in a page is for a page.
"$tool" eval examples/matmul.yaml --live --quiet 2>"$dir/said"
[ $? -eq 2 ] && grep -q -e "--live is for a page" "$dir/said" || fail "--live without --html"

# What Google's Model Explorer reads of a plan: graphs whose edges have both ends, and node data for their nodes, with the plan's sums.
"$tool" plan arch-specs/edge.yaml tests/data/onnx/mob-17.onnx --evals 20 --json "$dir/m.json" --explorer "$dir/g.json" --node-data "$dir/d.json" --quiet ||
  fail "plan --explorer --node-data"
python3 - "$dir/m.json" "$dir/g.json" "$dir/d.json" <<'PYTHON' || fail "what Model Explorer reads"
import json, sys
plan, graphs, data = (json.load(open(name)) for name in sys.argv[1:])
assert graphs["label"] == plan["workload"]
of = {g["id"]: g for g in graphs["graphs"]}
assert list(of) == ["groups", "ops"] == list(data)
for name, g in of.items():
    ids = [n["id"] for n in g["nodes"]]
    assert len(ids) == len(set(ids)) and ids
    edges = [(e["sourceNodeId"], n["id"]) for n in g["nodes"] for e in n.get("incomingEdges", [])]
    assert edges and all(a in ids and a != b for a, b in edges) and len(edges) == len(set(edges))
    assert set(data[name]["results"]) <= set(ids)
    assert [s["stop"] for s in data[name]["gradient"]] == [0, 1]
groups = plan["groups"]
assert [data["groups"]["results"][str(i + 1)]["value"] for i in range(len(groups))] == [g["cycles"] for g in groups]
assert all(f["value"].startswith("%.15g (bound" % g["cycles"]) for g, n in zip(groups, of["groups"]["nodes"]) for f in n["attrs"] if f["key"] == "cycles")
layers = {n["id"]: n["namespace"] for n in of["ops"]["nodes"]}
for i, g in enumerate(groups):
    for op in g["ops"]:
        assert layers[op].startswith("%d: %s" % (i + 1, g["ops"][0])) and layers[op] in of["ops"]["groupNodeAttributes"]
        assert abs(data["ops"]["results"][op]["value"] - g["cycles"] / g["bounds"]["cycles"]) < 1e-9
assert sum(n["namespace"] == "inputs" for n in of["ops"]["nodes"]) > 0
# an edge of groups is an edge of ops between them, and the other way round
number = {op: str(i + 1) for i, g in enumerate(groups) for op in g["ops"]}
between = {(number[e["sourceNodeId"]], number[n["id"]]) for n in of["ops"]["nodes"] for e in n.get("incomingEdges", []) if e["sourceNodeId"] in number}
assert {(a, b) for a, b in between if a != b} == {(e["sourceNodeId"], n["id"]) for n in of["groups"]["nodes"] for e in n["incomingEdges"]}
PYTHON

[ $failed -eq 0 ] || exit 1
echo "pages: all hold their data, and load nothing"
