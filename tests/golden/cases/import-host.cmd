# A computer described in /sys and /proc: two threads a core, three caches; the native reader takes it.
tileflow import --host --root tests/golden/host -o $OUT/host.yaml && cat $OUT/host.yaml
tileflow check $OUT/host.yaml workloads/gemm.yaml
tileflow import --host --root tests/golden/host --cores 1 --quiet
tileflow import --host --root tests/golden/host --cores 3; echo $?
tileflow import --cores 1 a.yaml; echo $?
tileflow import --host --root tests/golden/nowhere; echo $?
tileflow import; echo $?
tileflow import --host a.yaml; echo $?
# A damaged description: a cache of a level that is there, sizes beyond what can be counted. The rest is an architecture.
cp -r tests/golden/host $OUT/damaged && chmod -R u+w $OUT/damaged && c=$OUT/damaged/sys/devices/system/cpu/cpu0/cache
cp $c/index0/level $c/index2/level && echo 9223372036854775807M >$c/index3/size && echo 'MemTotal: 9223372036854775807 kB' >$OUT/damaged/proc/meminfo
tileflow import --host --root $OUT/damaged -o $OUT/damaged.yaml && sed -n '/memories:/,/compute:/p' $OUT/damaged.yaml | grep -E 'name:|capacity:' && tileflow check $OUT/damaged.yaml
# A process that may run on two processors of the four, both of the second core: its caches are that core's.
cp -r tests/golden/host $OUT/bound && chmod -R u+w $OUT/bound && mkdir $OUT/bound/proc/self && printf 'Cpus_allowed_list:\t1,3\n' >$OUT/bound/proc/self/status
cp -r $OUT/bound/sys/devices/system/cpu/cpu0/cache $OUT/bound/sys/devices/system/cpu/cpu1/cache
for i in 0 1 2; do echo 1,3 >$OUT/bound/sys/devices/system/cpu/cpu1/cache/index$i/shared_cpu_list; done
tileflow import --host --root $OUT/bound --quiet | sed -n '1,/name: REG/p'
tileflow import --host --root $OUT/bound --cores 2; echo $?
