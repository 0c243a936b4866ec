# What bash completes, from the tables of commands and options; zsh and fish are told the same options; other shells are refused.
try() { tileflow "$@" 2>&1; echo "status $?"; }
tileflow completion bash -o $OUT/c.bash && touch "$OUT/two words.yaml" && cat >$OUT/ask.bash <<'BASH'
. $OUT/c.bash
ask() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _tileflow
  shift
  echo "$*: ${#COMPREPLY[@]}: ${COMPREPLY[*]}"
}
ask tileflow e
ask tileflow best --o
ask tileflow best --objective ''
ask tileflow best --seed ''
ask tileflow emit --target n
ask tileflow why E_CA
ask tileflow completion ''
ask tileflow best arch-specs/edg
ask tileflow best -o arch-specs/edg
cd $OUT
ask tileflow check two
ask tileflow nonsense --o
BASH
bash $OUT/ask.bash
for c in $(tileflow --help | sed -n 's/^  tileflow \([a-z][a-z]*\)  .*/\1/p'); do
  for option in $(tileflow $c --help | sed -n 's/^  --\([a-z-]*\).*/\1/p'); do
    tileflow completion zsh | sed -n "/^  $c) _arguments/,/;;/p" | grep -qe "'\*\{0,1\}--$option[=[]" || echo "zsh: $c --$option"
    tileflow completion fish | grep -qe "_from $c' -l $option " || echo "fish: $c --$option"
  done
done
try completion
try completion basch tcsh
