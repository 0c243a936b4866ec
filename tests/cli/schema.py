"""The JSON Schema of files: it takes every file that we ship, and refuses what `check` says has a key, a kind of value or a line of a
mapping that there is none of.

  python3 tests/cli/schema.py TILEFLOW
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"SKIP: python3 has no {missing.name} (python3-jsonschema, python3-yaml)")
    sys.exit(77)

SHIPPED = ["arch-specs/**/*.yaml", "workloads/**/*.yaml", "examples/*.yaml", "tests/npu/**/*.yaml"]
SECTIONS = ("architecture", "workload", "mapping", "params", "instructions", "search", "sweep", "plan", "home", "layout")
# What is wrong is a key, a kind of node or the form of a line, and lies in a section that the schema describes; the rest of
# E_SYNTAX (numbers, expressions within indices, indentation) is for `check`.
REFUSED = re.compile(
    r"unknown key '.*' in (a file|the architecture|a memory|a unit|a compute unit|the workload|a tensor|a density|an op|a format)\b|"
    r"(the workload|a memory|a tensor|an op|a density) (needs|lacks)|"
    r"'(dims|ops|tensors|memories|compute|mesh|pad|shape|workload|architecture)' must be a |"
    r"expected (the end of the line|'keep', 'retain' or 'stream'|'for', 'spatial' or 'bypass'|a loop|'@x' or '@y'|'@' and|TENSOR@LEVEL|the name of an op|a tensor, not)")


class Loader(yaml.SafeLoader):
    """YAML 1.2's truth values, as editors have them: `on` is a word."""


Loader.yaml_implicit_resolvers = {first: [(tag, found) for tag, found in all if tag != "tag:yaml.org,2002:bool"]
                                  for first, all in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))


def load(path):
    """The file as data, or None where it is no YAML for Python."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError):
        return None


def unique(pairs):
    """A map none of whose keys is given twice: definitions of all sections stand side by side."""
    if len({key for key, _ in pairs}) != len(pairs):
        raise SystemExit(f"schema: a name twice among {[key for key, _ in pairs]}")
    return dict(pairs)


def native(data):
    return isinstance(data, dict) and data and all(key in SECTIONS for key in data)


def maps_of(data, path=()):
    """Every map within, with the names that lead to it."""
    if isinstance(data, dict):
        yield path, data
        for key, value in data.items():
            yield from maps_of(value, path + (key,))
    elif isinstance(data, list):
        for value in data:
            yield from maps_of(value, path + ("",))


def misspelled(data, draw):
    """One key of an architecture or a workload misspelled, or None; names of dims and tensors are the user's own."""
    places = [(m, key) for path, m in maps_of(data) if path[:1] in (("architecture",), ("workload",)) and path[-1] not in ("dims", "tensors")
              for key in m if isinstance(key, str)]
    if not places:
        return None
    where, key = draw.choice(places)
    where[key + "_"] = where.pop(key)
    return key


def broken_line(text, draw):
    """A mapping with one word of one line that no such line may have."""
    lines = text.split("\n")
    full = [i for i, line in enumerate(lines) if line.split("#")[0].strip()]
    at = draw.choice(full)
    head = lines[at].split("#")[0].rstrip()
    # no " for" behind a bypass, where a tensor may have any name
    wrong = [" x = ", " @x", " keepp A@L1", " =4", " spatial m=4", " {m=4"] + ([] if " bypass " in head else [" for"])
    lines[at] = head + draw.choice(wrong)
    return "\n".join(lines)


def main(tool):
    def schema(*section):
        return json.loads(subprocess.run([tool, "schema", *section], check=True, stdout=subprocess.PIPE).stdout, object_pairs_hook=unique)
    whole = schema()
    kind = jsonschema.validators.validator_for(whole)
    kind.check_schema(whole)
    checks = kind(whole)
    parts = {"architecture": kind(schema("arch")), "workload": kind(schema("workload")), "mapping": kind(schema("mapping"))}
    draw, failed, taken, refused, wrong = random.Random(1), 0, 0, 0, 0

    def complain(*words):
        nonlocal failed
        failed += 1
        print(*words)

    for path in sorted({p for glob in SHIPPED for p in ROOT.glob(glob)}):
        data = load(path)
        if not native(data):
            complain(f"{path}: not read")
            continue
        taken += 1
        for error in checks.iter_errors(data):
            complain(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
        for section, check in parts.items():
            if check.is_valid(data) is False:
                complain(f"{path}: the schema of {section} refuses it")
        key = misspelled(data, draw)
        if key:
            wrong += 1
            if checks.is_valid(data):
                complain(f"{path}: '{key}_' is taken")
        if isinstance(data.get("mapping"), str):
            text = broken_line(data["mapping"], draw)
            wrong += 1
            if parts["mapping"].is_valid({"mapping": text}):
                complain(f"{path}: this mapping is taken\n{text}")
    unpacked = tempfile.TemporaryDirectory()
    subprocess.run(["sh", ROOT / "tests/bad/unpack.sh", unpacked.name], check=True)
    for err in sorted(pathlib.Path(unpacked.name, "tests/bad").glob("*/*.err")):
        said = err.read_text(encoding="utf-8")
        data = load(err.with_suffix(".yaml")) if err.with_suffix(".yaml").exists() else None
        first = next((line for line in said.split("\n") if " error[" in line and REFUSED.search(line)), None)
        if data is None or not first or err.parent.name.startswith(("import", "plan", "sweep")):
            continue
        refused += 1
        if checks.is_valid(data):
            complain(f"{err.with_suffix('.yaml')}: taken, though {first}")
    print(f"schema: {taken} files taken, {wrong} mistakes and {refused} bad files refused, {failed} failed")
    return 1 if failed or taken < 100 or refused < 20 or wrong < 100 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
