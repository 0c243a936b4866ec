#!/usr/bin/env python3
"""From an ONNX file to numbers: planned, emitted, compiled, its weights packed, run, and held against onnxruntime.

  pack.py TILEFLOW CC MODEL.onnx..

Beside each model stands NAME.json (make.py) with its inputs and the outputs that onnxruntime computed.  Its initializers are
inputs there too; here they come from the file that `pack` writes, but those that only the caller can give.  The second model runs
in bfloat16, too, quantised ones (q-) with their bytes as bytes.  The reader of the first one's weights then gets the same file with bytes changed, 2000 times, in a program that
AddressSanitizer watches: it has to say what is wrong or to take it, and no more.  Plain Python.
"""
import ctypes
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

from run import clean

ARCH = "arch-specs/xeon-gold-6240.yaml"
LIMIT = {"f32": 1e-4, "bf16": 3e-2, "int8": 1e-6}

SPOIL = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "network.h"
int main(int argc, char **argv) {
  FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
  static _Alignas(64) unsigned char whole[1 << 20];
  if (!f) return 2;
  const size_t n = fread(whole, 1, sizeof whole, f), head = n < 4096 ? n : 4096;
  unsigned long long u = 1;
  int taken = 0, refused = 0;
  fclose(f);
  for (int i = 0; i < 2000; i++) {
    u = u * 6364136223846793005ULL + 1442695040888963407ULL;
    const size_t size = i % 4 == 3 ? (size_t)(u >> 33) % (n + 1) : n;
    unsigned char *copy = aligned_alloc(64, (size + 63) / 64 * 64 + 64);
    network_args args;
    char why[100] = "";
    if (!copy) return 2;
    memcpy(copy, whole, size);
    for (int k = 0; k < i % 3 + 1 && size; k++) {
      u = u * 6364136223846793005ULL + 1442695040888963407ULL;
      copy[(size_t)(u >> 33) % (head < size ? head : size)] = (unsigned char)(u >> 20);
    }
    memset(&args, 0, sizeof args);
    const int status = network_weights(&args, copy, size, why, sizeof why);
    if (status && (status != network_bad_weights || !*why)) return 1;
    *(status ? &refused : &taken) += 1;
    free(copy);
  }
  printf("%d taken, %d refused\n", taken, refused);
  return refused < 500 || taken < 100;
}
"""


def run(*args):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, args))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def fields(header):
    """(name, shape or number of strides, written, type) in the order of the struct."""
    for line in re.search(r"typedef struct \{(.*?)\} network_args;", header, re.S).group(1).splitlines():
        if m := re.match(r"\s*(const )?(\w+) \*(\w+); /\* ([\dx ]+)", line):
            yield m[3], [int(n) for n in m[4].split("x")], not m[1], m[2]
        elif m := re.match(r"\s*int64_t (\w+)\[(\d+)\]", line):
            yield m[1], int(m[2]), False, None
        elif "*packed" in line:
            yield "packed", [], False, None


def narrow(x):
    """A float as bfloat16, rounded to nearest, ties to even."""
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16


def wide(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def names_of(weights):
    """Of what stands in the file."""
    count, at, names = struct.unpack_from("<I", weights, 12)[0], 40, []
    for _ in range(count):
        length, rank = struct.unpack_from("<I", weights, at)[0], struct.unpack_from("<Q", weights, at + 8)[0]
        names.append(weights[at + 24 + 8 * rank:at + 24 + 8 * rank + length].decode())
        at += 24 + 8 * rank + (length + 7) // 8 * 8
    return names


TYPES = {"float": (ctypes.c_float, float, float), "uint16_t": (ctypes.c_uint16, narrow, wide), "int8_t": (ctypes.c_int8, int, float),
         "uint8_t": (ctypes.c_uint8, int, float)}


def call(folder, weights, inputs):
    rows = list(fields((folder / "network.h").read_text()))
    types = [(n, ctypes.c_int64 * s if isinstance(s, int) else ctypes.c_void_p) for n, s, *_ in rows]
    args, lib, kept, out = type("Args", (ctypes.Structure,), {"_fields_": types})(), ctypes.CDLL(str(folder / "libnetwork.so")), [], {}
    data, why = ctypes.create_string_buffer(weights, len(weights)), ctypes.create_string_buffer(200)
    if lib.network_weights(ctypes.byref(args), data, ctypes.c_size_t(len(weights)), why, ctypes.c_size_t(200)):
        sys.exit(f"network_weights: {why.value.decode()}")
    given = set(names_of(weights))
    for name, shape, written, of in rows:
        if isinstance(shape, int) or name == "packed":
            continue
        n = 1
        for extent in shape:
            n *= extent
        if name not in given:
            element, given_as, taken_as = TYPES[of]
            array = (element * n)(*([] if written else map(given_as, inputs[name])))
            kept.append(array)
            setattr(args, name, ctypes.addressof(array))
            out.update({name: (array, taken_as)} if written else {})
            step = 1
            for r in range(len(shape) - 1, 0, -1):
                step *= shape[r]
                getattr(args, name + "_stride")[r - 1] = step
        elif getattr(args, name) is None:
            sys.exit(f"{name} stands in the file, and was not taken")
    if status := lib.network(ctypes.byref(args), None, ctypes.c_size_t(0)):
        sys.exit(f"network: {status}")
    return {k: list(map(taken_as, v)) for k, (v, taken_as) in out.items()}, given


def one(tool, cc, model, plan, work, dtype="f32"):
    case = json.loads(model.with_suffix(".json").read_text())
    code, weights = work / "code", work / "weights.bin"
    run(tool, "emit", ARCH, model, plan, "--target", "cpu", "--isa", "portable", "--dtype", dtype, "-o", code, "--quiet")
    run(tool, "pack", model, "--dtype", dtype, "-o", weights, "--quiet")
    sources = [str(f) for f in code.glob("*.c") if f.name not in ("test.c", "bench.c")]
    flags = ["-std=c17", "-O0", "-w", "-I", code]
    run(cc, *flags, "-shared", "-fPIC", "-o", code / "libnetwork.so", *sources, "-lm")
    got, given = call(code, weights.read_bytes(), {clean(k): v["data"] for k, v in case["inputs"].items()})
    for (name, mine), want in zip(got.items(), case["outputs"], strict=True):
        size = max(map(abs, want["data"]))
        off = max(abs(a - b) for a, b in zip(mine, want["data"], strict=True))
        if not off <= LIMIT[dtype] * size:
            sys.exit(f"{model}, {dtype}: {name} is off by {off:g} of {size:g}")
    return code, weights, len(given)


def spoil(cc, code, weights, work):
    (work / "spoil.c").write_text(SPOIL)
    run(cc, "-std=c17", "-O1", "-w", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I", code, "-o", work / "spoil",
        work / "spoil.c", *[f for f in code.glob("*.c") if f.name not in ("test.c", "bench.c")], "-lm")
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
    return run(work / "spoil", weights).strip()


def main():
    tool, cc, models = sys.argv[1], sys.argv[2], [pathlib.Path(m) for m in sys.argv[3:]]
    for i, model in enumerate(models):
        types = ["f32"] + ["bf16"] * (i == 1) + ["int8"] * model.stem.startswith("q-")
        with tempfile.TemporaryDirectory() as folder:
            plan = pathlib.Path(folder) / "plan.yaml"
            run(tool, "plan", ARCH, model, "--evals", "20", "--threads", "1", "-o", plan, "--quiet")
            for dtype in types:
                work = pathlib.Path(folder) / dtype
                work.mkdir()
                code, weights, n = one(tool, cc, model, plan, work, dtype)
                spoilt = "; " + spoil(cc, code, weights, work) if i == 0 else ""
                print(f"{model.name}, {dtype}: {n} weights{spoilt}")


if __name__ == "__main__":
    main()
