#!/usr/bin/env python3
"""A sweep beside the loop that an architect writes around another mapper: ZigZag (PyPI: zigzag-dse 3.9), 20 machines of
examples/edge-family.yaml, one product of 256 x 256 x 256, in turns in one run.

  VENV/bin/pip install zigzag-dse six && VENV/bin/python bench/peers_sweep.py TILEFLOW [EVALS]      in the root of the sources

Prints for each machine cycles over the least that its units could take, and processor seconds; EVALS: of a point (500).

The machine in ZigZag's words: an array of side x side units; for each operand a register of a third of the 64 words of a PE
(ZigZag gives each operand a memory of its own); a buffer with a port for reads and one for writes, as wide as ours; DRAM with one
port.  Each tool's cycles are by its own model.  ZigZag chooses both spatial and temporal mapping, with its default limits."""
import json
import logging
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import yaml

SIDES, KIBS, DRAMS = (8, 16), (64, 128, 256, 512, 1024), (15, 30)
WORKLOAD = [{"id": 0, "name": "product", "operator_type": "Gemm", "equation": "O[m][n]+=I[m][k]*W[k][n]",
             "dimension_relations": [], "loop_dims": ["M", "N", "K"], "loop_sizes": [256, 256, 256],
             "operand_precision": {"O": 16, "O_final": 16, "W": 16, "I": 16}, "operand_source": {"I": 0, "W": 0}}]
MAPPING = [{"name": "default", "memory_operand_links": {"O": "O", "W": "I2", "I": "I1"}}]


def port(name, kind, bits, allocation):
    return {"name": f"{name}_port_1", "type": kind, "bandwidth_min": min(16, bits), "bandwidth_max": bits, "allocation": allocation}


def memory(bits, energy, operands, ports, served):
    return {"size": bits, "r_cost": energy, "w_cost": energy, "area": 0, "latency": 1, "operands": operands, "ports": ports,
            "served_dimensions": served}


def register(operand, words, reads, writes):
    return memory(16 * words, 0.02, [operand], [port("r", "read", 16, [f"{operand}, {a}" for a in reads]),
                                                port("w", "write", 16, [f"{operand}, {a}" for a in writes])], [])


def machine(side, kib, dram):
    both, wide = ["D1", "D2"], 8 * side * 16
    inputs = ["I1", "I2"]
    return {"name": "edge-family", "memories": {
        "pe_I1": register("I1", 20, ["tl"], ["fh"]), "pe_I2": register("I2", 22, ["tl"], ["fh"]),
        "pe_O": register("O", 22, ["tl", "th"], ["fh", "fl"]),
        "L1": memory(kib * 8192, 10, inputs + ["O"],
                     [port("r", "read", wide, ["I1, tl", "I2, tl", "O, tl", "O, th"]),
                      port("w", "write", wide, ["I1, fh", "I2, fh", "O, fh", "O, fl"])], both),
        "DRAM": memory(10 ** 10, 200, inputs + ["O"], [port("rw", "read_write", 8 * dram, [
            f"{o}, {a}" for o in inputs for a in ("fh", "tl")] + [f"O, {a}" for a in ("fh", "tl", "fl", "th")])], both)},
        "operational_array": {"input_precision": [16, 16], "unit_energy": 0.04, "unit_area": 1, "dimensions": both,
                              "sizes": [side, side]}}


def by_zigzag(point):
    from zigzag.api import get_hardware_performance_zigzag
    for name, what in (("machine", machine(*point)), ("work", WORKLOAD), ("mapping", MAPPING)):
        pathlib.Path(f"{name}.yaml").write_text(yaml.safe_dump(what, sort_keys=False))
    began = time.process_time()
    _, cycles, _ = get_hardware_performance_zigzag("work.yaml", "machine.yaml", "mapping.yaml", opt="latency",
                                                   dump_folder="out", loma_show_progress_bar=False)
    return cycles, time.process_time() - began


def by_sweep(tool, root, method, evals):
    """All points in one process: cycles of each and the seconds of one."""
    section = {"sweep": {"name": method, "architectures": f"{root}/examples/edge-family.yaml",
                         "workloads": f"{root}/examples/matmul-small.yaml", "method": method, "budget": {"evals": evals},
                         "objectives": ["cycles"], "over": {"side": list(SIDES), "l1_kib": list(KIBS), "dram": list(DRAMS)}}}
    pathlib.Path("sweep.yaml").write_text(yaml.safe_dump(section))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([tool, "sweep", "sweep.yaml", "--store", f"{method}.tfdb", "--threads", "1", "--full", "--quiet"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    rows = json.loads(subprocess.run([tool, "results", f"{method}.tfdb", "--json", "-", "--quiet"], check=True,
                                     capture_output=True).stdout)["rows"]
    cycles = {tuple(int(r["params"][k]) for k in ("side", "l1_kib", "dram")): r["cycles"] for r in rows}
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cycles, seconds / len(rows)


def mean(ratios):
    product = 1.0
    for r in ratios:
        product *= r
    return product ** (1 / len(ratios))


def main(tool, evals):
    logging.disable(logging.CRITICAL)
    tool, root = os.path.realpath(tool), os.getcwd()
    points = [(s, k, d) for s in SIDES for k in KIBS for d in DRAMS]
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        by_zigzag(points[0])  # what it imports at first
        found = {"search": by_sweep(tool, root, "search", evals), "solve": by_sweep(tool, root, "solve", evals)}
        print("side  l1_kib  dram  zigzag  search   solve   (cycles over 256^3 / side^2)   zigzag's seconds")
        ratios = {"zigzag": [], "search": [], "solve": []}
        seconds = 0.0
        for p in points:
            least = 256 ** 3 / p[0] ** 2
            cycles, took = by_zigzag(p)
            seconds += took
            ratios["zigzag"].append(cycles / least)
            for method in found:
                ratios[method].append(found[method][0][p] / least)
            print(f"{p[0]:4}  {p[1]:6}  {p[2]:4}  " + "  ".join(f"{ratios[m][-1]:6.3f}" for m in ratios) + f"   {took:.2f}")
        os.chdir(root)
    print("geometric means: " + ", ".join(f"{m} {mean(r):.4f}" for m, r in ratios.items()))
    print(f"processor seconds a point: zigzag {seconds / len(points):.3f}, " +
          ", ".join(f"{m} {s:.5f}" for m, (_, s) in found.items()))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 500)
