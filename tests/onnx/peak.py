#!/usr/bin/env python3
"""What weights cost in memory: the file itself, and no more.

  peak.py TILEFLOW

Reads a model of one product whose weights are 48 MiB, in the file or beside it, and compares the peak of memory with that of
reading as many bytes that are no model.  Plain Python.
"""
import pathlib
import random
import subprocess
import sys
import tempfile

ROWS, COLUMNS, MORE = 3072, 4096, 12 << 10  # MORE: KiB that importing and packing may take for themselves
CODE = "import resource, subprocess, sys; r = subprocess.run(sys.argv[1:], capture_output=True); " \
       "print(r.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def field(number, what):
    if isinstance(what, int):
        return varint(number << 3) + varint(what)
    what = what.encode() if isinstance(what, str) else what
    return varint(number << 3 | 2) + varint(len(what)) + what


def model(*data):
    """y = x w, where w holds `data`."""
    weight = field(1, ROWS) + field(1, COLUMNS) + field(2, 1) + field(8, "w") + b"".join(data)
    shape = field(1, field(1, 4)) + field(1, field(1, ROWS))
    of_x = field(1, "x") + field(2, field(1, field(1, 1) + field(2, shape)))
    node = field(1, "x") + field(1, "w") + field(2, "y") + field(4, "MatMul")
    graph = field(1, node) + field(2, "peak") + field(5, weight) + field(11, of_x) + field(12, field(1, "y"))
    return field(1, 8) + field(8, field(2, 17)) + field(7, graph)


def peak(status, *command):
    """KiB at most; a process of its own counts those of one child."""
    said = subprocess.run([sys.executable, "-c", CODE, *map(str, command)], capture_output=True, text=True, check=True).stdout
    ended, most = map(int, said.split())
    if ended != status:
        sys.exit(f"{command} ended with {ended}")
    return most


def main():
    tool, size = sys.argv[1], 4 * ROWS * COLUMNS
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        piece = bytearray(random.Random(1).randbytes(1 << 20))
        piece[3::4] = b"\x3f" * (len(piece) // 4)  # no NaN, whose bits a float may lose
        numbers = bytes(piece) * (size >> 20)
        (folder / "in.onnx").write_bytes(model(field(9, numbers)))
        beside = field(13, field(1, "location") + field(2, "data")) + field(14, 1)
        (folder / "out.onnx").write_bytes(model(beside))
        (folder / "data").write_bytes(numbers)
        (folder / "none.onnx").write_bytes(b"\x08\x08\x07" + numbers)
        (folder / "nothing.onnx").write_bytes(b"\x08\x08\x07")
        read, nothing = (peak(2, tool, "import", folder / f"{name}.onnx") for name in ("none", "nothing"))
        rows = {("import", "in"): read, ("pack", "in"): read, ("pack", "out"): nothing}
        wrong = 0
        for (command, name), least in rows.items():
            to = ["-o", folder / f"{name}.bin"] if command == "pack" else []
            most = peak(0, tool, command, folder / f"{name}.onnx", *to)
            if most > least + MORE:
                wrong += 1
                print(f"peak: {command} of weights {name} of {size >> 10} KiB takes {most} KiB; reading alone takes {least}")
        same = (folder / "in.bin").read_bytes() == (folder / "out.bin").read_bytes()
        if not same or not (folder / "in.bin").read_bytes().endswith(numbers):
            wrong += 1
            print("peak: the packed weights are others")
    print(f"peak: {'weights are not copied' if not wrong else 'too much'}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
