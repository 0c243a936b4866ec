#!/bin/sh
# A plan leads back to what it was made of: emitted from the plan alone it gives the same folder, and files that have changed
# are errors at the plan's lines.
#   tests/cli/plan_alone.sh TILEFLOW
set -u
. "$(dirname "$0")/../lib.sh"
mkdir "$dir/bad" && sh "$(dirname "$0")/../bad/unpack.sh" "$dir/bad" || exit 2
cp "$dir/bad/tests/bad/plan/part_net.yaml" "$dir/net.yaml" || exit 2
cp "$dir/bad/tests/bad/import-onnx/no_extent.onnx" "$dir/open.onnx" || exit 2
cp "$(dirname "$0")/../../arch-specs/edge.yaml" "$dir/edge.yaml" || exit 2
cd "$dir" || exit 2
fail() {
  echo "$*"
  exit 1
}

"$tool" plan net.yaml --evals 20 -o p.yaml --quiet || fail "no plan"
"$tool" emit net.yaml p.yaml --target cpu --isa portable -o beside --quiet || fail "not emitted beside its files"
"$tool" emit p.yaml --target cpu --isa portable -o alone --quiet || fail "not emitted alone"
grep -v 'tileflow emit' beside/README.md >beside/read && grep -v 'tileflow emit' alone/README.md >alone/read
rm beside/README.md alone/README.md
diff -r beside alone || fail "two folders of one plan"

"$tool" plan net.yaml p.yaml -o again.yaml --quiet || fail "not read"
sed -n '/^plan/,$p' p.yaml >one && sed -n '/^plan/,$p' again.yaml >two
diff one two || fail "read and written it is another"

earlier=$root/tests/data/earlier
"$tool" plan "$earlier"/net.yaml "$earlier"/plan-1.yaml -o later.yaml --quiet || fail "the plan of an earlier version is not read"
sed -n '/^plan/,/^  files/p' "$earlier"/plan-1.yaml >one && sed -n '/^plan/,/^  files/p' later.yaml >two
diff one two || fail "the plan of an earlier version is read as another"

sed -i 's/n: 8/n: 16/' net.yaml
"$tool" emit p.yaml --target cpu -o changed >said 2>&1 && fail "a changed network was taken"
[ -e changed ] && fail "a folder of a changed network"
grep -q "^p.yaml:[0-9]*:[0-9]*: error\[E_NAME\]: 'net.yaml' has changed since this plan was made" said || fail "$(cat said)"
sed 's/path: "net/path: "gone/' p.yaml >lost.yaml
"$tool" emit lost.yaml --target cpu -o changed >said 2>&1 && fail "a file that is not there was read"
grep -q 'gone.yaml: error\[E_IO\]' said || fail "$(cat said)"
sed '/^  files:/,$d' p.yaml >none.yaml
"$tool" emit none.yaml --target cpu -o changed >said 2>&1 && fail "a plan without files was emitted alone"
grep -q 'error\[E_MISSING\]: the plan names no files' said || fail "$(cat said)"
sed 's/sha256:/sha265:/' p.yaml >wrong.yaml
"$tool" emit wrong.yaml --target cpu -o changed >said 2>&1 && fail "an unknown key was taken"
grep -q "did you mean 'sha256'" said || fail "$(cat said)"

# Settings go to the model whose axis they name, or else to the params of the files beside it.
echo 'params: {bits: 32}' >>edge.yaml && sed -i 's/^  word-bits: [0-9]*/  word-bits: bits/' edge.yaml
"$tool" plan edge.yaml open.onnx --set bits=16 --set batch=3 --set x_2=5 --evals 20 -o open.plan.yaml --quiet || fail "an axis was not set"
"$tool" emit open.plan.yaml --target cpu --isa portable -o open --quiet || fail "a plan alone forgot its settings"
grep -q 'float \*x; /\* 3 x' open/network.h || fail "$(cat open/network.h)"
"$tool" plan edge.yaml open.onnx --set bach=3 >said 2>&1 && fail "an axis that the model does not have was taken"
grep -q "give it with --set batch=N" said || fail "$(cat said)"
grep -q "'bach'" said || fail "$(cat said)"
