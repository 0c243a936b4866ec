#!/bin/sh
# What the host's side of OpenCL kernels does, on the first device that there is: the test and the benchmark that are emitted with it, under
# sanitizers; with buffers of the device, in two queues of contexts of their own; what it says where there is no device, and where the text does not compile.
# usage: run.sh TILEFLOW.  Exit 77: no OpenCL device.
tileflow=$1
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export POCL_CACHE_DIR="$work/cache"
here=$(dirname "$0")
. "$here/../cuda/gpu.sh"
. "$here/../cuda/workloads.sh"
fail() { echo "FAIL: $1"; cat "$work/said"; exit 1; }
flags="-O1 -g -Wall -Wextra -Wpedantic -Werror"

gpu >"$work/gpu.yaml"
attention "h: 2, m: 19, l: 36, a: 11, n: 13" "for h=2 m=2" "" 10 36 11 13 | causal 10 36 >"$work/attention.yaml"
"$tileflow" emit --quiet "$work/gpu.yaml" "$work/attention.yaml" --target opencl --name fused -o "$work/k" || exit 1
cp "$here/two.c" "$work/k/"
cd "$work/k" || exit 2

make -s test CFLAGS="$flags" >"$work/said" 2>&1 || {
  grep 'not run: no OpenCL device\|CL/cl.h: No such\|cannot find -lOpenCL' "$work/said" | sed 's/^/SKIP: /' | grep . && exit 77
  fail "the test"
}
make -s bench CFLAGS="$flags" >"$work/said" 2>&1 && ./bench >"$work/said" 2>&1 && grep -q GFLOP "$work/said" || fail "the benchmark"

# The device's library, not ours, keeps memory until the end.
if cc $flags -fsanitize=address,undefined -x c -o /dev/null - 2>/dev/null <<'C'
int main(void) { return 0; }
C
then sanitize=-fsanitize=address,undefined; else sanitize=; fi
cc -std=c17 $flags $sanitize -o two two.c kernel.c -lOpenCL -lm >"$work/said" 2>&1 &&
  ASAN_OPTIONS=detect_leaks=0 ./two >"$work/said" 2>&1 || fail "buffers of the device"

OCL_ICD_VENDORS=/nowhere ./test >"$work/said" 2>&1
[ $? = 2 ] && grep -q 'not run: no OpenCL device' "$work/said" || fail "no device"
sed 's/"__kernel /"__kennel /' kernel.c >bad.c
cc -std=c17 -o bad bad.c test.c -lOpenCL -lm && ./bad >"$work/said" 2>&1
[ $? = 2 ] && grep -q 'not run: .*' "$work/said" && grep -q '__kennel' "$work/said" || fail "a text that does not compile"
echo "attention in OpenCL C: the host's side does as it says${sanitize:+, under sanitizers}"
