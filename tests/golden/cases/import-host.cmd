# A computer described in /sys and /proc: two threads a core, three caches; the native reader takes it.
tileflow import --host --root tests/golden/host -o $OUT/host.yaml && cat $OUT/host.yaml
tileflow check $OUT/host.yaml workloads/gemm.yaml
tileflow import --host --root tests/golden/host --cores 1 --quiet
tileflow import --host --root tests/golden/host --cores 3; echo $?
tileflow import --cores 1 a.yaml; echo $?
tileflow import --host --root tests/golden/nowhere; echo $?
tileflow import; echo $?
tileflow import --host a.yaml; echo $?
