# Timeloop's files in the native form, which eval reads.
tileflow import tests/data/timeloop/case004.yaml -o $OUT/native.yaml && cat $OUT/native.yaml
tileflow eval $OUT/native.yaml --json - | grep -A 3 '"name": "DRAM"'
