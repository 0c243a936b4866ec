"""compile(): the kernel that emit writes, as a function of arrays.

A call passes pointers and strides (kernel.h): arrays of numpy and tensors of torch on the CPU are read where they lie.
"""
import ctypes
import math
import operator
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import weakref

from ._errors import Error

_FIELD = re.compile(r"^  (?:(?:const )?\w+ \*(\w+)|int64_t (\w+)\[(\d+)\]);", re.MULTILINE)
_NUMPY = {"float32": "float32", "int8": "int8", "int32": "int32", "bfloat16": "uint16"}  # numpy has no bfloat16: its bits
_SAYS = {-1: "a pointer is NULL", -2: "the workspace is too small", -3: "no memory is left",
         -4: "this computer or its system has no tiles (AMX, SME)", -5: "this computer cannot run its instructions"}


_MOST_THREADS = 256
_ran_in = []  # the process whose call was the first that OpenMP may have spread: its threads do not survive fork()


class _Array:
    """What a call needs of an array: where it lies, its type, shape and strides in elements."""

    def __init__(self, name, value):
        self.name, self.writable = name, True
        if hasattr(value, "data_ptr"):  # torch
            if value.device.type != "cpu":
                raise ValueError(f"tileflow: {name} is on {value.device}; kernels read the CPU's memory")
            if value.is_neg():
                raise ValueError(f"tileflow: {name} is a negated view; the kernel takes what resolve_neg() makes of it")
            self.pointer, self.kind, self.size = value.data_ptr(), str(value.dtype).replace("torch.", ""), value.element_size()
            self.shape, self.strides = tuple(value.shape), tuple(value.stride())
        elif hasattr(value, "__array_interface__"):  # numpy, and what looks like it
            self._numpy(name, value)
        else:
            raise TypeError(f"tileflow: {name} is an array of numpy or a tensor of torch, not {type(value).__name__}")
        if self.pointer % self.size:
            raise ValueError(f"tileflow: {name} does not lie at a multiple of its element's size, {self.size} bytes")

    def _numpy(self, name, value):
        place = value.__array_interface__["data"]
        if not isinstance(place, tuple) or hasattr(value, "mask"):
            raise TypeError(f"tileflow: {name} is a plain array of numpy, not {type(value).__name__}")
        if not getattr(value.dtype, "isnative", True):
            raise TypeError(f"tileflow: {name} holds {value.dtype.str}: bytes in the order of other computers")
        self.pointer, self.writable, self.kind = place[0], not place[1], value.dtype.name
        self.shape, self.size = tuple(value.shape), value.dtype.itemsize
        if any(s % self.size for s in value.strides):
            raise ValueError(f"tileflow: {name}'s strides are no multiples of its element's size")
        self.strides = tuple(s // self.size for s in value.strides)

    def span(self):
        """The first byte, and that after the last."""
        ends = [(n - 1) * s for n, s in zip(self.shape, self.strides)]
        return (self.pointer + self.size * sum(min(e, 0) for e in ends),
                self.pointer + self.size * (1 + sum(max(e, 0) for e in ends)))

    def folded(self):
        """Whether two of its elements may lie at one place."""
        reach = 0
        for stride, extent in sorted((abs(s), n) for s, n in zip(self.strides, self.shape) if n > 1):
            if stride <= reach:
                return True
            reach += stride * (extent - 1)
        return False

    def meets(self, other):
        """Whether the two may share an element.  Rows side by side, as of two blocks of one matrix, do not."""
        (low, high), (begin, end) = self.span(), other.span()
        if high <= begin or end <= low:
            return False
        pitch = self.size * math.gcd(*(s for a in (self, other) for n, s in zip(a.shape[:-1], a.strides) if n > 1))
        width, others = (a.size * (a.shape[-1] if a.shape else 1) for a in (self, other))
        apart = (other.pointer - self.pointer) % pitch if pitch else 0
        return not (width <= apart and apart + others <= pitch)


def _fields(header):
    """The members of NAME_args in their order: name, and how many strides it has (None: a pointer)."""
    body = re.search(r"typedef struct \{\n(.*?)^\} \w+_args;", header, re.DOTALL | re.MULTILINE)[1]
    return [(p or s, None if p else int(n)) for p, s, n in _FIELD.findall(body)]


def _members(tensor, fields):
    """The member with a tensor's pointer, and the one with its strides, None where it has none.  Names that C forbids are
    written otherwise (docs/HOWTO-emit.md, Names)."""
    for pointer, strides in ((tensor, f"{tensor}_stride"), (f"tensor_{tensor}", f"stride_{tensor}")):
        if pointer in fields and fields[pointer] is None:
            return pointer, strides if fields.get(strides) else None
    raise RuntimeError(f"tileflow: kernel.h has no argument for {tensor}")


def _build(path, cc):
    """path/kernel.so, by the Makefile's own flags."""
    make = shutil.which("make")
    if make is None:
        raise Error("tileflow: compile() needs make and a C compiler", 1)
    compiler = [f"CC={cc}"] if cc else []
    words = shlex.split(cc or os.environ.get("CC") or "cc")  # as make's shell takes it: "ccache gcc"
    for command in ([make, "-s", "-C", path, "kernel.o", "CFLAGS=-O3 -fPIC", *compiler],
                    [*words, "-shared", "-fopenmp", "-o", os.path.join(path, "kernel.so"),
                     os.path.join(path, "kernel.o"), "-lm"]):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding="utf-8", errors="replace")
        if done.returncode:
            raise Error(done.stdout or f"tileflow: {command[0]} ended with status {done.returncode}", 1)
    return ctypes.CDLL(os.path.join(path, "kernel.so"))


class Function:
    """A compiled kernel.  f(A, B) or f(A=A, B=B) returns what it writes: an array, or a dict of several;
    f(A, B, out=R) writes into R.  Beside it: inputs and outputs (names to shapes), path (the C sources), manifest."""

    def __init__(self, kernel, cc=None):
        self.path, self.manifest = kernel.path, kernel.manifest
        with open(os.path.join(self.path, "kernel.h"), encoding="utf-8") as f:
            fields = _fields(f.read())
        self._library = _build(self.path, cc)
        self._args = type("Args", (ctypes.Structure,), {"_fields_": [
            (name, ctypes.c_void_p if n is None else ctypes.c_int64 * n) for name, n in fields]})
        self._tensors = [(tensor, *_members(tensor["name"], dict(fields))) for tensor in self.manifest["tensors"]]
        self.inputs = {t["name"]: tuple(t["shape"]) for t in self.manifest["tensors"] if t["role"] == "input"}
        self.outputs = {t["name"]: tuple(t["shape"]) for t in self.manifest["tensors"] if t["role"] != "input"}
        self._call = getattr(self._library, self.manifest["entry"])
        self._call.argtypes = [ctypes.POINTER(self._args), ctypes.c_void_p, ctypes.c_size_t]
        self._call.restype = ctypes.c_int

    def __repr__(self):
        def said(names):
            return ", ".join(f"{name}{list(shape)}" for name, shape in names.items())
        return f"<tileflow kernel {said(self.inputs)} -> {said(self.outputs)}, {self.manifest['isa']}>"

    def _new(self, tensor, like):
        if hasattr(like, "data_ptr"):
            import torch
            return torch.empty(tensor["shape"], dtype=getattr(torch, tensor["type"]))
        import numpy
        return numpy.empty(tensor["shape"], dtype=_NUMPY[tensor["type"]])

    def _check(self, tensor, array):
        name, shape, kind = tensor["name"], tuple(tensor["shape"]), tensor["type"]
        if array.kind not in (kind, _NUMPY.get(kind)):
            raise TypeError(f"tileflow: {name} holds {array.kind}; the kernel takes {kind}")
        if array.shape != shape:
            raise ValueError(f"tileflow: {name} has shape {array.shape}; the kernel takes {shape}")
        if shape and shape[-1] > 1 and array.strides[-1] != 1:
            raise ValueError(f"tileflow: elements along the last rank of {name} lie {array.strides[-1]} apart; "
                             "the kernel takes neighbours")
        if tensor["role"] != "input" and not array.writable:
            raise ValueError(f"tileflow: {name} is read-only; the kernel writes it")
        if tensor["role"] != "input" and array.folded():
            raise ValueError(f"tileflow: elements of {name} lie on each other (strides {array.strides}); the kernel writes each")

    def _separate(self, arrays):
        """What is written may not overlap what is read, or written as well (kernel.h)."""
        written = [a for a in arrays if a.name in self.outputs]
        for k, a in enumerate(written):
            for b in [*(a for a in arrays if a.name in self.inputs), *written[:k]]:
                if a.meets(b):
                    raise ValueError(f"tileflow: {a.name} overlaps {b.name}; the kernel writes {a.name} while it reads")

    def _threads(self, threads):
        """How many threads a call takes, None: as OpenMP has it.  After fork() one: more would wait for each other forever."""
        if threads is not None:
            count = operator.index(threads)
            if not 1 <= count <= _MOST_THREADS:
                raise ValueError(f"tileflow: threads= takes 1 to {_MOST_THREADS}, not {count}")
            threads = count
        if not hasattr(self._library, "omp_set_num_threads"):
            return None
        if threads != 1 and not _ran_in:
            _ran_in.append(os.getpid())
        return 1 if _ran_in and _ran_in[0] != os.getpid() else threads

    def _given(self, arrays, named, out):
        """Names to arrays of all inputs and outputs."""
        if len(arrays) > len(self.inputs):
            raise TypeError(f"tileflow: {len(self.inputs)} inputs, not {len(arrays)}: {', '.join(self.inputs)}")
        given = dict(zip(self.inputs, arrays))
        twice = [n for n in named if n in given]
        unknown = [n for n in named if n not in self.inputs]
        given.update(named)
        missing = [n for n in self.inputs if n not in given]
        for names, what in ((unknown, "no input is called"), (twice, "given twice:"), (missing, "no array for")):
            if names:
                raise TypeError(f"tileflow: {what} {', '.join(names)}; inputs: {', '.join(self.inputs)}")
        if out is not None and not isinstance(out, dict):
            if len(self.outputs) != 1:
                raise TypeError(f"tileflow: out is a dict of {', '.join(self.outputs)}")
            out = {next(iter(self.outputs)): out}
        strange = [n for n in out or {} if n not in self.outputs]
        if strange:
            raise TypeError(f"tileflow: no output is called {', '.join(strange)}; outputs: {', '.join(self.outputs)}")
        return given, out or {}

    def _run(self, args, threads):
        if threads is None:
            return self._call(ctypes.byref(args), None, 0)
        before = self._library.omp_get_max_threads()
        self._library.omp_set_num_threads(threads)
        try:
            return self._call(ctypes.byref(args), None, 0)
        finally:
            self._library.omp_set_num_threads(before)

    def __call__(self, *arrays, out=None, threads=None, **named):
        given, out = self._given(arrays, named, out)
        like = given[next(iter(self.inputs))] if self.inputs else None
        args, results, arrays = self._args(), {}, []
        for tensor, pointer, strides in self._tensors:
            name = tensor["name"]
            if tensor["role"] != "input":
                results[name] = given[name] = out[name] if name in out else self._new(tensor, like)
            array = _Array(name, given[name])
            self._check(tensor, array)
            arrays.append(array)
            setattr(args, pointer, array.pointer)
            if strides:
                for k in range(len(getattr(args, strides))):
                    getattr(args, strides)[k] = array.strides[k]
        self._separate(arrays)
        status = self._run(args, self._threads(threads))
        if status:
            raise Error(f"tileflow: {self.manifest['entry']}: {_SAYS.get(status, f'status {status}')}", 1)
        return next(iter(results.values())) if len(results) == 1 else results


def function(emit, host, sources, out, cc, options):
    """The kernel of the inputs: emit's, for this computer where they hold no architecture."""
    if out is not None:
        return Function(emit(*host(sources), out=out, **options), cc)
    folder = tempfile.mkdtemp(prefix="tileflow-kernel-")
    try:
        made = Function(emit(*host(sources), out=os.path.join(folder, "kernel"), **options), cc)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(made, shutil.rmtree, folder, ignore_errors=True)
    return made
