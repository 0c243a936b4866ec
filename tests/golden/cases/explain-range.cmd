# What the workload promises of numbers is said in words and in JSON, and nothing where there is no promise.
in=tests/golden/in/two-units.yaml
sed 's/^  ops:/  tensors: {A: {word-bits: 8, range: [-64, 63]}}\n  ops:/' $in >"$OUT/ranged.yaml"
tileflow explain "$OUT/ranged.yaml" | grep promised
tileflow explain "$OUT/ranged.yaml" --quiet --json - | grep -A 5 '"ranges"'
tileflow explain $in --quiet --json - | grep -c ranges || tileflow explain $in | grep -c promised || :
