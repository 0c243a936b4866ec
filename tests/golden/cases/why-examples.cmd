# Each code has a row, and the example of each row says what the row says it does, with a status of its own.
sed -n 's/^  X([A-Z]*, "\(E_[A-Z]*\)").*/\1/p' include/tileflow/diag.h >$OUT/codes
cd $OUT && tileflow why | sed -n 's/^\(E_[A-Z]*\) .*/\1/p' | diff codes - && echo "$(wc -l <codes) codes"
while read -r code; do
  rm -f example.yaml
  tileflow why $code >text || echo "$code: no row"
  grep -q '^Example, example.yaml:' text && tileflow why $code -o example.yaml --quiet
  command=$(sed -n 's/^  \$ tileflow //p' text)
  tileflow $command >/dev/null 2>said </dev/null
  status=$?
  sed 's/^\(.\)/  \1/' said >wanted
  sed '1,/^  \$ tileflow /d' text | sed '/^Repair/,$d' | sed '$d' | diff wanted - || echo "$code: another message"
  grep -q "error\[$code\]" said || echo "$code: not provoked"
  [ "$(grep -c 'error\[' said)" = 1 ] || echo "$code: more than one error"
  grep -q '^Repair: .' text || echo "$code: no repair"
  echo "$code $status"
done <codes
