# A folder to start from: what it holds evaluates and is beaten, each command it names runs, and nothing is written over.
try() { tileflow "$@" 2>&1; echo "status $?"; }
cd $OUT || exit
try init --list
for work in product attention convolution; do
  try init $work --workload $work --quiet
  tileflow check $work/*.yaml
  tileflow eval $work/*.yaml | sed -n '1p;/^cycles/p'
  tileflow best $work/*.yaml --evals 2000 | sed -n '/given/p'
done
mkdir here && cd here && tileflow init >said && cat said && cat machine.yaml workload.yaml mapping.yaml
sed -n 's/^  tileflow //p' said | grep -v '^emit' | while read -r command; do
  tileflow $command >/dev/null 2>err && echo "runs: $command" || cat err
done
cd ..
try init here
try init product attention --workload atention
try init here --list
: >file
try init file/below
ls here
