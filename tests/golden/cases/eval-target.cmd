# Beside the model's cycles those that a target expects of its kernel: of the NPU as its simulator counts them.
tileflow eval arch-specs/npu.yaml workloads/npu/attention.yaml --target npu --json $OUT/a.json | sed -n 3,4p
grep -A 3 '"expected"' $OUT/a.json
tileflow emit arch-specs/npu.yaml workloads/npu/attention.yaml --target npu --quiet -o $OUT/kernel
tileflow npu $OUT/kernel/kernel.npu | head -n 3
# a target whose cycles come on top of the model's; a machine that is not the target's
tileflow eval arch-specs/npu.yaml workloads/npu/product.yaml --target cpu
tileflow eval examples/matmul.yaml --target npu
