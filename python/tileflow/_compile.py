"""compile(): the kernel that emit writes, as a function of arrays.

A call passes pointers and strides (kernel.h): arrays of numpy and tensors of torch on the CPU are read where they lie.
"""
import ctypes
import os
import re
import shutil
import subprocess
import tempfile
import weakref

from ._errors import Error

_FIELD = re.compile(r"^  (?:(?:const )?\w+ \*(\w+)|int64_t (\w+)\[(\d+)\]);", re.MULTILINE)
_NUMPY = {"float32": "float32", "int8": "int8", "int32": "int32", "bfloat16": "uint16"}  # numpy has no bfloat16: its bits
_SAYS = {-1: "a pointer is NULL", -2: "the workspace is too small", -3: "no memory is left",
         -4: "this computer or its system has no tiles (AMX, SME)", -5: "this computer cannot run its instructions"}


class _Array:
    """What a call needs of an array: where it lies, its type, shape and strides in elements."""

    def __init__(self, name, value):
        if hasattr(value, "data_ptr"):  # torch
            if value.device.type != "cpu":
                raise ValueError(f"tileflow: {name} is on {value.device}; kernels read the CPU's memory")
            self.pointer, self.kind = value.data_ptr(), str(value.dtype).replace("torch.", "")
            self.shape, self.strides = tuple(value.shape), tuple(value.stride())
        elif hasattr(value, "__array_interface__"):  # numpy, and what looks like it
            self.pointer, self.kind = value.__array_interface__["data"][0], value.dtype.name
            self.shape, size = tuple(value.shape), value.dtype.itemsize
            if any(s % size for s in value.strides):
                raise ValueError(f"tileflow: {name}'s strides are no multiples of its element's size")
            self.strides = tuple(s // size for s in value.strides)
        else:
            raise TypeError(f"tileflow: {name} is an array of numpy or a tensor of torch, not {type(value).__name__}")


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
    for command in ([make, "-s", "-C", path, "kernel.o", "CFLAGS=-O3 -fPIC", *compiler],
                    [cc or os.environ.get("CC", "cc"), "-shared", "-fopenmp", "-o", os.path.join(path, "kernel.so"),
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

    def __call__(self, *arrays, out=None, threads=None, **named):
        given, out = self._given(arrays, named, out)
        like = next(iter(given.values()), None)
        args, results = self._args(), {}
        for tensor, pointer, strides in self._tensors:
            name = tensor["name"]
            if tensor["role"] != "input":
                results[name] = given[name] = out[name] if name in out else self._new(tensor, like)
            array = _Array(name, given[name])
            self._check(tensor, array)
            setattr(args, pointer, array.pointer)
            if strides:
                for k in range(len(getattr(args, strides))):
                    getattr(args, strides)[k] = array.strides[k]
        if threads is not None and hasattr(self._library, "omp_set_num_threads"):
            self._library.omp_set_num_threads(ctypes.c_int(threads))
        status = self._call(ctypes.byref(args), None, 0)
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
