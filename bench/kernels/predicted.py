"""The planner's expected time of drawn kernels beside what they took: `plan`'s kernel_seconds, weights packed where they can be.
usage: python3 bench/kernels/predicted.py TILEFLOW ARCH.yaml CASES.csv FOLDER... >docs/results/cpu-predicted.csv
CASES.csv is what bench/kernels/unseen.sh has measured, each FOLDER holds its workloads (KERNELS=DIR: DIR/unseen).  The summary goes to
stderr."""
import collections, csv, json, math, os, subprocess, sys

WITHIN = 1.25


def expected(tool, arch, path, dtype):
    run = subprocess.run([tool, "plan", arch, path, "--target", "cpu", "--dtype", dtype, "--threads", "1", "--quiet", "--json", "-"],
                         capture_output=True, text=True)
    return json.loads(run.stdout)["kernel_seconds"] * 1e3 if run.returncode == 0 else math.nan


def main():
    tool, arch, cases, *folders = sys.argv[1:]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["case", "kind", "dtype", "params", "predicted_ms", "measured_ms", "measured_over_predicted"])
    found = collections.defaultdict(list)
    for row in csv.DictReader(open(cases)):
        path = next((p for p in (os.path.join(f, row["case"] + ".yaml") for f in folders) if os.path.exists(p)), None)
        predicted = expected(tool, arch, path, row["dtype"]) if path else math.nan
        measured = float(row["packed_ms"] or row["ms"])
        out.writerow([row["case"], row["kind"], row["dtype"], row["params"], f"{predicted:.4g}", f"{measured:.4g}", f"{measured / predicted:.3f}"])
        if predicted > 0:
            found[row["dtype"]].append((measured / predicted, row["case"]))
    for dtype, ratios in found.items():
        ratios.sort()
        near = sum(1 / WITHIN <= r <= WITHIN for r, _ in ratios)
        print(f"{dtype}: {len(ratios)} kernels, {near} within {WITHIN - 1:.0%}; median {ratios[len(ratios) // 2][0]:.2f}, "
              f"from {ratios[0][0]:.2f} ({ratios[0][1]}) to {ratios[-1][0]:.2f} ({ratios[-1][1]})", file=sys.stderr)


if __name__ == "__main__":
    main()
