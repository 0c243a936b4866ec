# The schema is the one in docs, and names every key of the template; other names are refused, all of them.
try() { tileflow "$@" 2>&1; echo "status $?"; }
tileflow schema | cmp - docs/tileflow.schema.json && echo same
tileflow schema -o $OUT/a.json
tileflow schema file | cmp - $OUT/a.json && echo same
for section in workload mapping; do tileflow schema $section | grep -c '"$ref"\|"pattern"'; done
sed -n 's/^ *\([a-z-]*\): .*/\1/p' arch-specs/template.yaml | sort -u | while read -r key; do
  grep -q "\"$key\": {" $OUT/a.json || echo "no key $key"
done
try schema archs mapping
