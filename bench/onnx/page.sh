#!/bin/sh
# Writes docs/RESULTS-onnx.md from docs/results/onnx-nodes.csv (nodes.py).
#   bench/onnx/page.sh >docs/RESULTS-onnx.md
cd "$(dirname "$0")/../.." || exit 2
rows=docs/results/onnx-nodes.csv
[ -r $rows ] || { echo "no $rows" >&2; exit 2; }

awk -F, '
# The reason without the node, and without numbers and names, so that like ones are counted together.
function kind(why) {
  sub(/^E_[A-Z]*: /, "", why)
  sub(/^node [^:]*: /, "", why)
  sub(/^operator .* is not known.*/, "an operator that is not known", why)
  sub(/; did you mean.*/, "", why)
  if (why ~ /cuts( |$)|cuts data/) why = "cuts to whole numbers"
  if (why ~ /rounds data/) why = "rounds to a float of 8 bits or less"
  if (why ~ /wraps at/) why = "integers that wrap"
  if (why ~ /^of data of type|to string|from string/) why = "strings, or integers where floats are defined"
  if (why ~ /has no elements|less than no element|no element/) why = "empty tensors"
  if (why ~ /is no tensor with a shape/) why = "sequences, optional values"
  gsub(/\047[^\047]*\047/, "..", why)
  if (why !~ /8 bits/) gsub(/[0-9][0-9]*/, "n", why)
  return why
}
NR == 1 { next }
{
  n++; all[$6]++; op[$1]++; by[$1, $6]++
  float[$4]++; float_by[$4, $6]++
  if ($6 == "equal") way[$5]++
  if ($6 == "refused") { why[kind($7)]++ }
  if ($6 == "disputed") disputed = disputed (disputed ? ", " : "") "`" $2 "`"
}
function row(name, f) {
  printf "| %s | %d | %d | %d | %d | %d | %d |\n", name, f == "" ? n : float[f], f == "" ? all["equal"] : float_by[f, "equal"],
    f == "" ? all["refused"] : float_by[f, "refused"], f == "" ? all["disputed"] : float_by[f, "disputed"],
    f == "" ? all["differs"] : float_by[f, "differs"], f == "" ? all["crash"] : float_by[f, "crash"]
}
END {
  print "# ONNX\047s own node tests\n"
  print "`bench/onnx/run.sh` generates the tests of onnx 1.23.2, imports each model, and evaluates the workload\047s text alone (`bench/onnx/workload.py`). Equal is within the"
  print "test\047s tolerance, at least 1e-4 (float16 and bfloat16: theirs). A refused model is tried again with its integer inputs as numbers of the model, then with all"
  print "inputs but the first. `bench/onnx/page.sh` writes this page from [results/onnx-nodes.csv](results/onnx-nodes.csv).\n"
  print "| tests | number | equal | refused | disputed | differ | crash |\n|---|--:|--:|--:|--:|--:|--:|"
  row("all", ""); row("with a float32 or float64 input", "yes"); row("others", "no")
  printf "\nOf the equal ones %d are so as they are, %d with numbers of the model.", way["as is"], way["constants"]
  print "\n\n*Disputed*: the result is onnxruntime 1.32\047s, not the test\047s, which takes a fraction for a number of elements in `align_corners`:"
  print disputed ".\n"
  print "## Why tests are refused\n\n| tests | reason |\n|--:|---|"
  sort = "sort -t\\| -k2,2nr -k3,3"
  for (k in why) if (why[k] > 2) printf "| %d | %s |\n", why[k], k | sort; else rest += why[k]
  close(sort)
  printf "| %d | others, one or two each |\n", rest
  print "\n## Operator by operator\n"
  list = "sort -f | awk \047{ printf \"%s%s\", s, $0; s = \", \" } END { print \"\" }\047"
  for (o in op) if (by[o, "equal"] == op[o]) { whole++; tests += op[o] }
  printf "All %d tests of %d operators are equal. Below are the others.\n", tests, whole
  print "\nSome tests of these are refused; *expanded* is an operator\047s own expansion, as a graph of others:\n"
  for (o in op) if (by[o, "refused"] && by[o, "equal"]) print o | list
  close(list)
  print "\nNo test of these is equal, mostly as the operator is not known:\n"
  for (o in op) if (!by[o, "equal"]) print o | list
  close(list)
}' $rows
