# A value that help offers is taken: those of options that commands share, but do not share all values of.
offered() { tileflow completion bash | sed -n "s/^  $1:--$2) .*-W \"\([^\"]*\)\".*/\1/p"; }
tileflow init $OUT/first --workload product --quiet
for value in $(offered plan objective); do
  tileflow plan $OUT/first/machine.yaml $OUT/first/workload.yaml --evals 20 --objective $value --quiet >$OUT/said && echo "plan --objective $value"
done
echo "train: $(offered train objective)"
for command in eval plan; do # a file that is not there is told of where all words are known
  for value in $(offered $command target); do tileflow $command nowhere.yaml --target $value 2>&1; done
done
