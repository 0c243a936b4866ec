#!/usr/bin/env python3
"""What weights cost in memory: nothing of the program's own, however a model holds them.

  peak.py TILEFLOW

Reads a model of one product whose weights are 48 MiB, as bytes or as a list in the file, or beside it.  Importing keeps the
peak of memory near that of a file that is no model.  Importing and packing work where a process may own 24 MiB of data, a
bound that the system keeps, whatever the clock says.  Small models in each way of each type pack alike; damaged lists are refused.
Plain Python.
"""
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile

ROWS, COLUMNS, MORE = 3072, 4096, 12 << 10  # MORE: KiB that importing and packing may take for themselves
OWN = 24 << 20  # bytes of data that a process may own
FLOAT, INT8, INT32, INT64, HALF, DOUBLE, UINT64, BF16 = 1, 3, 6, 7, 10, 11, 13, 16
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


def model(*data, rows=ROWS, columns=COLUMNS, kind=FLOAT, cast=False, scaled=False):
    """y = x w, where w holds `data`; cast to float, or scaled by a number, if it is of integers."""
    weight = field(1, rows) + field(1, columns) + field(2, kind) + field(8, "w") + b"".join(data)
    shape = field(1, field(1, 4)) + field(1, field(1, rows))
    of_x = field(1, "x") + field(2, field(1, field(1, FLOAT if cast or scaled else kind) + field(2, shape)))
    to = field(5, field(1, "to") + field(3, FLOAT) + field(20, 2))
    before = field(1, field(1, "w") + field(2, "v") + field(4, "Cast") + to) if cast else b""
    before += field(1, field(1, "w") + field(1, "s") + field(2, "v") + field(4, "DequantizeLinear")) if scaled else b""
    node = field(1, "x") + field(1, "v" if before else "w") + field(2, "y") + field(4, "MatMul")
    scale = field(5, field(2, FLOAT) + field(8, "s") + field(4, struct.pack("<f", 0.5)))
    graph = before + field(1, node) + field(2, "peak") + field(5, weight) + scale + field(11, of_x) + field(12, field(1, "y"))
    return field(1, 8) + field(8, field(2, 17)) + field(7, graph)


def halves(number, items):
    """The list in two pieces, which a reader joins."""
    return field(number, b"".join(items[:5])) + field(number, b"".join(items[5:]))


def loose(number, items, wire):
    """Each number as a field of its own."""
    return b"".join(varint(number << 3 | wire) + i for i in items)


def spelled(kind, n, seed):
    """(n numbers as raw bytes, as items of a list, the list's field and wire)."""
    rng = random.Random(seed)
    if kind in (FLOAT, DOUBLE):
        items = [struct.pack("<f" if kind == FLOAT else "<d", rng.uniform(-9, 9)) for _ in range(n)]
        return b"".join(items), items, *((4, 5) if kind == FLOAT else (10, 1))
    if kind in (HALF, BF16):
        bits = [rng.getrandbits(15) & 0x3fff | rng.getrandbits(1) << 15 for _ in range(n)]
        return struct.pack(f"<{n}H", *bits), [varint(b) for b in bits], 5, 0
    code, low = {INT8: ("b", -128), INT32: ("i", -1 << 20), INT64: ("q", -1 << 20), UINT64: ("Q", 0)}[kind]
    values = [rng.randint(low, 127 if kind == INT8 else 1 << 20) for _ in range(n)]
    return struct.pack(f"<{n}{code}", *values), [varint(v & (1 << 64) - 1) for v in values], *{INT64: (7, 0), UINT64: (11, 0)}.get(kind, (5, 0))


def pack(tool, path, to):
    return subprocess.run([tool, "pack", path, "-o", to, "--quiet"], capture_output=True, text=True)


def ways(tool, folder):
    """Each type's numbers in each way; the number of what is wrong."""
    wrong = 0
    for kind in (FLOAT, DOUBLE, HALF, BF16, INT8, INT32, INT64, UINT64):
        for rows, columns in ((8, 9), (72, 64)):  # few enough to be computed with, and more
            cast, scaled = kind in (INT64, UINT64), kind in (INT8, INT32)
            if cast and rows > 8:
                continue
            as_model = lambda *data: model(*data, rows=rows, columns=columns, kind=kind, cast=cast, scaled=scaled)
            raw, items, number, wire = spelled(kind, rows * columns, kind + rows)
            whole = field(number, b"".join(items))
            told = {}
            for way, data in {"raw": field(9, raw), "list": whole, "halves": halves(number, items), "loose": loose(number, items, wire),
                              "mixed": loose(number, items[:3], wire) + field(number, b"".join(items[3:]))}.items():
                (folder / "way.onnx").write_bytes(as_model(data))
                done = pack(tool, folder / "way.onnx", folder / "way.bin")
                told[way] = (folder / "way.bin").read_bytes() if done.returncode == 0 else done.stderr
            for way, said in told.items():
                if said != told["raw"] or isinstance(said, str):
                    wrong += 1
                    print(f"peak: type {kind}, {rows} x {columns}, {way}: packs otherwise than bytes: {str(said)[:200]}")
            for name, data in (("short", field(number, b"".join(items[1:]))), ("cut", field(number, b"".join(items)[:-1])),
                               ("open", field(number, b"".join(items)[:-1] + b"\x80"))):
                (folder / "way.onnx").write_bytes(as_model(data))
                done = pack(tool, folder / "way.onnx", folder / "way.bin")
                if name == "open" and wire:
                    continue  # any byte ends a number of fixed length
                if done.returncode != 2 or "has not the numbers that its shape asks for" not in done.stderr:
                    wrong += 1
                    print(f"peak: type {kind}, {name}: ended with {done.returncode}: {done.stderr[:200]}")
    return wrong


def nested(folder):
    """A graph in a graph in a graph ..: its reading takes time by its length, not by 2 to the depth."""
    graph = field(2, "in")
    for _ in range(20):
        graph = field(1, field(4, "If") + field(5, field(1, "b") + field(6, graph))) + field(2, "g")
    (folder / "deep.onnx").write_bytes(field(1, 8) + field(8, field(2, 17)) + field(7, graph))
    return folder / "deep.onnx"


def few_data():
    resource.setrlimit(resource.RLIMIT_DATA, (OWN, OWN))


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
        (folder / "list.onnx").write_bytes(model(field(4, numbers)))
        beside = field(13, field(1, "location") + field(2, "data")) + field(14, 1)
        (folder / "out.onnx").write_bytes(model(beside))
        (folder / "data").write_bytes(numbers)
        (folder / "nothing.onnx").write_bytes(b"\x08\x08\x07")
        nothing = peak(2, tool, "import", folder / "nothing.onnx")
        file = size >> 10  # what of a mapped file was read
        rows = {("import", "in"): 0, ("import", "list"): 0, ("pack", "in"): file, ("pack", "list"): file, ("pack", "out"): 0}
        limited = subprocess.run([tool, "--version"], preexec_fn=few_data, capture_output=True).returncode == 0  # sanitizers own more
        wrong = ways(tool, folder)
        for (command, name), more in rows.items():
            to = ["-o", folder / f"{name}.bin"] if command == "pack" else []
            most = peak(0, tool, command, folder / f"{name}.onnx", *to)
            if most > nothing + more + MORE:
                wrong += 1
                print(f"peak: {command} of weights {name} of {file} KiB takes {most} KiB; reading nothing takes {nothing}")
            done = limited and subprocess.run([tool, command, folder / f"{name}.onnx", *to], preexec_fn=few_data, capture_output=True, text=True)
            if done and done.returncode:
                wrong += 1
                print(f"peak: {command} of weights {name} needs more than {OWN} bytes of its own: {done.stderr}")
        try:
            subprocess.run([tool, "import", nested(folder)], capture_output=True, timeout=60)
        except subprocess.TimeoutExpired:
            wrong += 1
            print("peak: graphs in graphs are read again and again")
        same = len({(folder / f"{name}.bin").read_bytes() for name in ("in", "list", "out")}) == 1
        if not same or not (folder / "in.bin").read_bytes().endswith(numbers):
            wrong += 1
            print("peak: the packed weights are others")
    print(f"peak: {'weights are not copied' if not wrong else 'too much'}{'' if limited else ' (not limited: the tool itself owns more)'}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
