"""bench/cuda/run.py with workers that are no good, and what report.py makes of rows."""
import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench" / "cuda"))
import report
import run

# Answers for all that it is asked of, but: of `hangs` nothing, at `crashes` it ends, as soon as ours is among those asked of.
WORKER = """
import json, sys, time
for line in sys.stdin:
    job = json.loads(line)
    if "tileflow" in job["who"] and job["name"] == "hangs": time.sleep(1000)
    if "tileflow" in job["who"] and job["name"] == "crashes": sys.exit(3)
    for w in job["who"]: print(json.dumps({"contestant": w, "state": "ok", "seconds": 1.0, "gflops": job["gflop"]}))
    print(flush=True) # all at once
"""
failed = 0


def check(right, what):
    global failed
    if not right:
        print("FAIL: " + what)
        failed = 1


def races(folder):
    run.seen = lambda folder: {}
    run.note = lambda text: None
    worker = folder / "worker.py"
    worker.write_text(WORKER)
    results = run.Results(folder / "results.csv")
    race = run.Race(folder, [sys.executable, str(worker)], results)
    for name in ("first", "hangs", "crashes", "last"):
        race.case(run.Case("gemm", name, "gemm", "7"), ["tileflow", "torch"], 2)
    states = {(r["case"], r["contestant"]): r["state"] for r in results.rows}
    check(states[("first", "tileflow")] == states[("last", "tileflow")] == "ok", "cases before and behind those that fail")
    check(states[("hangs", "tileflow")] == "no answer", "one that hangs: " + states[("hangs", "tileflow")])
    check(states[("crashes", "tileflow")] == "crashed (3)", "one that crashes: " + states[("crashes", "tileflow")])
    check(all(states[(n, "torch")] == "ok" for n in ("hangs", "crashes")), "the others of their cases")
    check(len(results.rows) == 8, "a row for each")
    again = run.Results(folder / "results.csv")
    check(again.rows == results.rows, "rows read again")
    race.results = again
    race.case(run.Case("gemm", "hangs", "gemm", "7"), ["tileflow", "torch"], 2)
    check(len(again.rows) == 8, "what has failed is not tried again")
    race.stop()


def row(case, contestant, **more):
    return {column: "" for column in run.COLUMNS} | {"case": case, "contestant": contestant, "state": "ok"} | more


def reports():
    rows = [row("gemm-8192-bf16", "tileflow", seconds="2", gflops="460000", registers="100", registers_expected="105"), row("gemm-8192-bf16", "torch", seconds="1.5", gflops="1")]
    rows += [row(f"ranked-gemm-bf16-{i}-1", "tileflow", seconds=str(s), predicted=str(p)) for i, (s, p) in enumerate(((1, 2), (2, 1), (3, 3), (4, 4)))]
    rows += [row(f"chain-g{i}", "ncu", dram=str(2 * i + 1)) for i in (1, 2, 3)] + [row(f"chain-g{i}", "tileflow", dram_expected=str(i)) for i in (1, 2, 3)]
    rows += [row("chain-g1-bf16", "tileflow", seconds="4"), row("chain-g1-bf16", "again", seconds="1"), row("chain-g1-bf16", "triton", seconds="2")]
    rows += [row("conv-3x3-64-56-sm90a", "tileflow", seconds="2", gflops="300000"), row("conv-3x3-64-56-sm90a", "torch", seconds="1.9")]
    t = report.Table(rows)
    for part in (report.products, report.attentions, report.layers, report.convs, report.thesis, report.ranks, report.model):
        part(t)
    said = {line[1]: line for line in report.answers}
    check(said["gemm-8192-bf16: TFLOP/s"][2:] == (">= 450", "460", "met"), "a rate")
    check(said["gemm-8192-bf16: share of torch"][3] == "0.75", "a share")
    check(said["conv-3x3-64-56-sm90a: share of torch"][2:] == (">= 0.9", "0.95", "met"), "a convolution beside cuDNN")
    check(said["Spearman of 4 mappings, gemm bf16"][3:] == ("0.8", "met"), "Spearman")
    check(said["first choice of them over the best, gemm bf16"][3:] == ("2", "NOT MET"), "a first choice")
    check(said["R2 of DRAM bytes, 3 kernels"][3:] == ("1", "met"), "R2")
    check(said["chain-g1-bf16: times PyTorch's best"][3:] == ("2", "met"), "Triton beside ours of its turn")
    check(said["chain-g2-bf16: times PyTorch's best"][4] == "missing", "what is missing")


def orders():
    cases = [run.Case("", name, "", "1") for name in ("gemm-1", "conv-2", "gemm-3", "conv-1", "copy")]
    check([c.name for c in run.asked(cases, ["conv-*", "gemm-3", "gemm-*"])] == ["conv-2", "conv-1", "gemm-3", "gemm-1"], "cases in the order of patterns")


with tempfile.TemporaryDirectory() as folder:
    races(pathlib.Path(folder))
reports()
orders()
check(run.bytes_of('==PROF== x\n"0","dram__bytes.sum","byte","1,024"\n"1","dram__bytes.sum","byte","1"\n"1","lts__t_bytes.sum","byte","7"\n') == {"dram": 1025.0, "l2": 7.0}, "the profiler's table")
sys.exit(failed)
