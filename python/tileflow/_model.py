"""One mapping evaluated over and over with other trip counts, in this process (include/tileflow/model.h)."""
import ctypes as c
import functools
import operator
import os
import re
import typing
import weakref

from . import _find, _inputs
from ._errors import Error

_MOST = 2**63 - 1
_LOOP = re.compile(r"\b([A-Za-z_]\w*)=(\d+)(?:@([xy]))?")


# Mirrors of include/tileflow/spec.h, diag.h and model.h; python/tests hold them against the executable's figures.
class _Loc(c.Structure):
    _fields_ = [("file", c.c_uint16), ("line", c.c_uint32), ("col", c.c_uint32), ("len", c.c_uint32)]


class _Text(c.Structure):
    _fields_ = [("name", c.c_char_p), ("text", c.c_void_p), ("len", c.c_size_t)]


class _Setting(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_char_p)]


class _Spec(c.Structure):
    _fields_ = [("arch", c.c_void_p), ("workload", c.c_void_p), ("mapping_text", c.c_void_p), ("mapping_at", _Loc)]


class _Result(c.Structure):
    _fields_ = [("cycles", c.c_double), ("seconds", c.c_double), ("energy_pj", c.c_double),
                ("leakage_pj", c.c_double), ("points", c.c_int64),
                ("skipped", c.c_int64),
                ("compute_utilization", c.c_double), ("bottleneck", c.c_char * 64), ("feasible", c.c_bool),
                ("overflow", c.c_bool), ("not_read_here", c.c_char * 8192)]


class Loop(typing.NamedTuple):
    """A loop of the mapping; axis: "x" or "y" if it is spatial; line: of Model.text(), from 0."""
    dim: str
    trip: int
    axis: typing.Optional[str]
    line: int


class Figures(typing.NamedTuple):
    cycles: float
    seconds: float
    energy_pj: float
    points: int
    compute_utilization: float
    bottleneck: str
    feasible: bool
    skipped: int  # points that are not run, as a mask leaves nothing of their steps
    leakage_pj: float  # the part of energy_pj that the machine leaks

    @property
    def edp(self):
        return self.energy_pj * self.seconds


@functools.lru_cache(maxsize=None)
def _library():
    lib = _find.load(_find.library())
    p = c.c_void_p
    for name, result, arguments in (
            ("tf_diags_new", p, []), ("tf_diags_free", None, [p]), ("tf_diags_errors", c.c_size_t, [p]),
            ("tf_diags_text", p, [p]),
            ("tf_diags_add_file", c.c_uint16, [p, c.c_char_p, c.c_char_p, c.c_size_t]), ("tf_text_read", _Text, [c.c_char_p, p]),
            ("tf_spec_read_texts", c.POINTER(_Spec), [c.POINTER(_Text), c.c_size_t, c.POINTER(_Setting), c.c_size_t, p]),
            ("tf_spec_free", None, [p]), ("tf_tree_parse", p, [p, _Loc, p, p, p]), ("tf_tree_free", None, [p]),
            ("tf_tree_text", p, [p]), ("tf_model_new", p, [p, p]), ("tf_model_free", None, [p]),
            ("tf_model_n_loops", c.c_int, [p]),
            ("tf_model_eval", c.c_bool, [p, c.POINTER(c.c_int64), c.POINTER(_Result)])):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


def _free(address):
    free = c.CDLL(None).free
    free.argtypes = [c.c_void_p]
    free(address)


def _take(address):
    """A malloc'd text."""
    text = c.string_at(address).decode("utf-8", "replace") if address else ""
    _free(address)
    return text


def _bytes(name):
    """For C, where a name ends with its first zero."""
    if b"\0" in name:
        raise ValueError("tileflow: embedded null byte")
    return name


class Model:
    """A mapping on a machine, ready to be evaluated many times.
    One Model serves one thread.  Foreign files are for `eval`."""

    def __init__(self, *inputs, architecture=None, workload=None, mapping=None, set=None):
        self._lib = lib = _library()
        self._held = []  # (free, object), in the order of making
        weakref.finalize(self, _release, self._held)
        self._diags = self._keep(lib.tf_diags_new(), lib.tf_diags_free)
        spec = self._read(list(_inputs.sources(inputs, architecture, workload, mapping)), set or {})
        for section, there in (("architecture", spec.arch), ("workload", spec.workload), ("mapping", spec.mapping_text)):
            if not there:
                raise Error(f"tileflow: error[E_MISSING]: no file has a section '{section}'")
        self._spec = spec
        tree = self._keep(lib.tf_tree_parse(spec.mapping_text, spec.mapping_at, spec.arch, spec.workload, self._diags),
                          lib.tf_tree_free)
        self._text = _take(lib.tf_tree_text(tree))
        if "?" in self._text:
            raise Error("tileflow: error[E_OPEN]: the mapping is open ('?'): complete it, with search")
        self._model = self._keep(lib.tf_model_new(tree, self._diags), lib.tf_model_free)
        self._result = _Result()
        self.loops = [Loop(m[1], int(m[2]), m[3], n) for n, line in enumerate(self._text.splitlines())
                      for m in _LOOP.finditer(line)]
        if len(self.loops) != lib.tf_model_n_loops(self._model):
            raise RuntimeError("tileflow: this package and the library are of different versions")
        self._trips = c.c_int64 * len(self.loops)

    def _keep(self, made, free):
        if not made:
            raise Error(_take(self._lib.tf_diags_text(self._diags)))
        self._held.append((free, made))
        return made

    def _read(self, sources, set):
        lib, texts = self._lib, (_Text * len(sources))()
        read = []
        for i, s in enumerate(sources):
            if s.path is not None:
                path = _bytes(os.fsencode(s.path))
                self._held.append((lambda _: None, path))  # the library keeps where it lies
                texts[i] = lib.tf_text_read(path, self._diags)
                read.append(texts[i].text)
            else:
                data = s.text.encode()
                buffer = c.create_string_buffer(data)
                self._held.append((lambda _: None, buffer))
                texts[i] = _Text(s.name.encode(), c.addressof(buffer), len(data))
        pairs = [(_bytes(k.encode()), _bytes(v.encode())) for k, v in _inputs.settings(set)]
        settings = (_Setting * len(pairs))(*pairs)
        spec = lib.tf_spec_read_texts(texts, len(sources), settings, len(pairs), self._diags)
        for address in read:
            _free(address)
        spec = self._keep(spec, lib.tf_spec_free).contents
        if lib.tf_diags_errors(self._diags):  # a file could not be read
            raise Error(_take(lib.tf_diags_text(self._diags)))
        return spec

    def __reduce__(self):
        raise TypeError("tileflow: a Model is neither copied nor pickled: make another from its inputs")

    def _counts(self, trips):
        """Whole numbers, one for each loop."""
        counts = [operator.index(t) for t in trips]
        if len(counts) != len(self.loops):
            raise ValueError(f"tileflow: {len(counts)} trip counts for {len(self.loops)} loops")
        return counts

    def check(self, trips):
        """Error with all that is wrong with these trip counts, located in text(trips)."""
        lib, text = self._lib, self.text(trips).encode()
        diags = lib.tf_diags_new()
        at = _Loc(lib.tf_diags_add_file(diags, b"<mapping>", text, len(text)), 1, 1, 1)
        tree = lib.tf_tree_parse(text, at, self._spec.arch, self._spec.workload, diags)
        lib.tf_tree_free(tree)
        said = None if tree else _take(lib.tf_diags_text(diags))
        lib.tf_diags_free(diags)
        if said is not None:
            raise Error(said)

    def eval(self, trips=None, check=True):
        """Figures with other trip counts, in the order of .loops; None: the mapping's own.
        Error where they break a rule, such as not reaching an extent, or a count passes 2^63 - 1.  check=False takes it
        that they break none, and is some times as fast."""
        if trips is not None:
            trips = self._counts(trips)
            if check:
                self.check(trips)
            elif max(trips, default=1) > _MOST or min(trips, default=1) < 1:
                raise ValueError(f"tileflow: trip counts lie in 1 .. {_MOST}")
            trips = self._trips(*trips)
        r = self._result
        if not self._lib.tf_model_eval(self._model, trips, r):
            raise Error("tileflow: error[E_OVERFLOW]: a count of this mapping passes 2^63 - 1" if r.overflow else
                        "tileflow: error[E_COVER]: the trip counts do not reach the extents")
        return Figures(r.cycles, r.seconds, r.energy_pj, r.points, r.compute_utilization, r.bottleneck.decode(),
                       r.feasible, r.skipped, r.leakage_pj)

    def text(self, trips=None):
        """The mapping with these trip counts, as the other functions take it."""
        if trips is None:
            return self._text
        left = iter(self._counts(trips))
        return _LOOP.sub(lambda m: f"{m[1]}={next(left)}" + (f"@{m[3]}" if m[3] else ""), self._text)


def _release(held):
    while held:
        free, made = held.pop()
        free(made)
