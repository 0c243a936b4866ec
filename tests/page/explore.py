"""Pages in a browser: what is drawn, and what hovering, clicking, keys and dragging do.
    explore.py TILEFLOW [FOLDER for pictures], in the root of the sources"""
import os
import shutil
import subprocess
import sys
import tempfile

from browser import Browser, chromium

if not chromium():
    print("SKIP: no chromium")
    sys.exit(77)

tool, pictures = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
folder = tempfile.mkdtemp()
faults = []
EDGE = ["arch-specs/edge.yaml", "workloads/attention/g1.yaml"]
DATAFLOWS = "workloads/dataflows/edge/attention-"


def make(name, *command):
    path = os.path.join(folder, name + ".html")
    subprocess.run([tool, *command, "--html", path, "--quiet"], check=True)
    return path


def check(holds, what):
    if not holds:
        faults.append(what)
        print(what)


def count(b, css):
    return b.run("document.querySelectorAll(%r).length" % css)


def text(b, css):
    return b.run("(e => e ? e.textContent : '')(document.querySelector(%r))" % css)


def lit(b):
    return set(b.run("[...document.querySelectorAll('.lit')].flatMap(e => e.dataset.keys.split(' '))"))


# Texts of a picture that lie over each other.
OVERLAPS = """[...document.querySelectorAll('svg')].flatMap(svg => {
  const t = [...svg.querySelectorAll('text')].filter(e => e.textContent).map(e => [e.textContent, e.getBoundingClientRect()]);
  return t.flatMap(([a, r], i) => t.slice(i + 1).filter(([b, q]) =>
    Math.min(r.right, q.right) - Math.max(r.left, q.left) > 2 && Math.min(r.bottom, q.bottom) - Math.max(r.top, q.top) > 4).map(([b]) => a + ' / ' + b));
})"""


def look(b, name, path):
    """Each page in four ways: no errors, no loads, nothing wider than the window, no text over another."""
    for width in (1280, 400):
        for dark in (False, True):
            b.size(width, 900, dark)
            b.open(path)
            where = "%s at %d, %s" % (name, width, "dark" if dark else "light")
            check(not b.said, "%s says %s" % (where, b.said))
            check(not [u for u in b.asked if not u.startswith("file:")] and len(b.asked) <= 1, "%s loads %s" % (where, b.asked))
            check(b.run("document.documentElement.scrollWidth") <= width, where + " is wider than the window")
            overlaps = b.run(OVERLAPS)
            check(not overlaps, "%s: texts over each other: %s" % (where, overlaps[:4]))
            ground = b.run("getComputedStyle(document.body).backgroundColor")
            check((sum(map(int, ground[4:-1].split(","))) < 200) == dark, where + " has the other ground")
            if pictures:
                b.picture(os.path.join(pictures, "%s-%d-%s.png" % (name, width, "dark" if dark else "light")))


def mapping_page(b, path):
    b.size(1280, 900)
    b.open(path)
    check(count(b, ".node") == 19, "not every node is drawn")
    for op in "SXDEZPO":
        check(count(b, ".chip.head") and b.run("[...document.querySelectorAll('.chip.head')].some(e => e.textContent === 'op %s')" % op), "op %s is missing" % op)
    for memory in ("DRAM", "L1", "L0"):
        check(memory in text(b, ".flow") and memory in text(b, ".parts") and memory in text(b, ".roofline"), memory + " is missing")
    figures = subprocess.run([tool, "eval", *EDGE, DATAFLOWS + "flat-rgran.yaml"], capture_output=True, text=True, check=True).stdout
    for figure in b.run("[...document.querySelectorAll('.figures b')].slice(0, 4).map(e => e.textContent)"):
        check(figure in figures, "the report has no '%s'" % figure)

    # hovering over loop m=4 of DRAM lights up what it repeats, K and V from L1 into L0, and nothing of Q
    b.hover('[data-focus="l0.1"]')
    shown = lit(b)
    names = b.run("JSON.parse(document.getElementById('data').textContent).mapping.tensors.map(t => t.name)")
    check({"l0.1", "t%d" % names.index("K"), "t%d" % names.index("V"), "f3:7"} <= shown, "the loop's traffic is not lit: %s" % sorted(shown))
    check("t%d" % names.index("Q") not in shown, "Q is lit, which the loop moves")
    check("loop m=4 of DRAM" in text(b, "#says") and "K L1 -> L0" in text(b, "#says"), "nothing says what is lit")
    b.mouse("mouseMoved", [5, 5])
    check(not lit(b), "something stays lit")
    # a click keeps it, Escape lets go; the keyboard's focus does what hovering does
    b.click('[data-focus="l0.1"]')
    b.mouse("mouseMoved", [5, 5])
    check("l0.1" in lit(b), "a click does not keep it lit")
    b.key("Escape")
    check(not lit(b), "Escape does not let go")
    b.run("document.activeElement.blur(); document.querySelector('.flow [data-focus=\"t0\"]').focus()")
    check("t0" in lit(b), "focus lights nothing up")
    b.run("document.activeElement.blur()")
    # zoom by dragging and by keys
    whole = text(b, ".timeline .buttons .faint")
    at = b.place(".timeline svg")
    b.drag([at[0] - 100, at[1]], [at[0] + 100, at[1]])
    part = text(b, ".timeline .buttons .faint")
    check(part != whole, "dragging does not zoom")
    check(count(b, ".timeline .interval") > 0, "no interval is left in the part")
    b.run("document.querySelector('.timeline svg').focus()")
    b.key("0")
    check(text(b, ".timeline .buttons .faint") == whole, "0 does not show the whole again")
    # dark and light by the button; the other files
    ground = b.run("getComputedStyle(document.body).backgroundColor")
    b.click(".theme")
    check(ground != b.run("getComputedStyle(document.body).backgroundColor"), "the button does not change the ground")
    b.click(".files button:nth-child(1)")
    check("architecture" in text(b, ".file"), "the architecture is not shown")


def pipe_page(b, path):
    """Two products at once, half the units each: neither is painted over the other."""
    b.size(1280, 900)
    b.open(path)
    over = b.run("""(all => all.flatMap((r, i) => all.slice(i + 1).filter(q =>
      Math.min(r.right, q.right) - Math.max(r.left, q.left) > 1.5 && Math.min(r.bottom, q.bottom) - Math.max(r.top, q.top) > 1.5)).length)
      ([...document.querySelectorAll('.timeline .interval')].map(e => e.getBoundingClientRect()))""")
    check(over == 0, "%d intervals are painted over others" % over)
    heights = b.run("[...document.querySelectorAll('.timeline g')].filter(g => /^matrix: [SO]\\n/.test(g.textContent)).map(g => g.querySelector('rect').getBoundingClientRect().height)")
    check(len(heights) > 10 and all(abs(h - heights[0]) < 0.1 for h in heights) and heights[0] < 20, "S and O do not share the matrix unit: %s" % heights[:4])


def results_page(b, path):
    b.size(1280, 900)
    b.open(path)
    machines = count(b, "circle.machine")
    check(machines == count(b, "path.machine") == count(b, ".machines tr[tabindex]") > 10, "not every machine is drawn thrice")
    box = b.run("(r => [r.left, r.top, r.width, r.height])(document.querySelector('.front .background').getBoundingClientRect())")
    b.drag([box[0] + 2, box[1] + 2], [box[0] + box[2] / 2, box[1] + box[3] - 2])
    some = count(b, "circle.machine.chosen")
    check(0 < some < machines, "brushing selects %d of %d" % (some, machines))
    check(some == count(b, "path.machine.chosen") == count(b, ".machines tr[tabindex]"), "lines and table are of other machines")
    b.click(".front button")
    check(count(b, "circle.machine.chosen") == machines, "not all are selected again")
    axis = b.run("(r => [r.left + r.width / 2, r.top, r.height])(document.querySelector('.parallel .background').getBoundingClientRect())")
    b.drag([axis[0], axis[1] + 2], [axis[0], axis[1] + axis[2] / 3])
    check(0 < count(b, "circle.machine.chosen") < machines, "an axis selects nothing")
    b.click(".front button")
    at = b.place("circle.machine:last-of-type")
    b.mouse("mouseMoved", at)
    check("on the front" in text(b, "#says"), "nothing says which machine the mouse is at")
    b.click("circle.machine:last-of-type")
    check("Machine" in text(b, ".machine-points"), "a click on a mark shows no machine")
    at = b.place("circle.machine:last-of-type")
    b.drag(at, [at[0] + 40, at[1] + 40])
    check(0 < count(b, "circle.machine.chosen") < machines, "dragging from a mark selects nothing")
    b.click(".front button")
    b.click(".machines tr[tabindex]")
    check("for" in text(b, ".machine-points .mapping"), "a click shows no mapping")


def plan_page(b, path):
    b.size(1280, 900)
    b.open(path)
    check(count(b, "tr.group") == 3, "not every group is drawn")
    b.hover("tr.group")
    check({"g0", "z0"} <= lit(b), "a group does not light up what it makes: %s" % lit(b))
    b.click("tr.group")
    check("DRAM" in text(b, ".mapping"), "a click shows no mapping")


def diff_page(b, path):
    b.size(1280, 900)
    b.open(path)
    check(count(b, "tr.term") > 20, "terms are missing")
    check("it lives in" in text(b, ".terms") or "loop" in text(b, ".terms"), "no reason is given")
    before = text(b, ".figures b")
    b.click("button[aria-pressed=false]")
    check(text(b, ".figures b") != before, "B's mapping is not shown")


def main():
    flat = DATAFLOWS + "flat-rgran.yaml"
    store = os.path.join(folder, "s.tfdb")
    subprocess.run([tool, "sweep", "examples/sweep.yaml", "--store", store, "--quiet"], check=True)
    pages = {
        "eval": (make("eval", "eval", *EDGE, flat), mapping_page),
        "pipe": (make("pipe", "eval", *EDGE, DATAFLOWS + "tileflow.yaml"), pipe_page),
        "best": (make("best", "best", *EDGE, "--evals", "3000"), None),
        "diff": (make("diff", "diff", *EDGE, DATAFLOWS + "layerwise.yaml", flat), diff_page),
        "plan": (make("plan", "plan", "arch-specs/edge.yaml", "tests/data/onnx/mob-17.onnx", "--evals", "200"), plan_page),
        "results": (make("results", "results", store), results_page),
    }
    b = Browser()
    try:
        for name, (path, explore) in pages.items():
            look(b, name, path)
            if explore:
                explore(b, path)
                check(not b.said, "%s, explored, says %s" % (name, b.said))
    finally:
        b.close()
    print("%d pages explored, %d faults" % (len(pages), len(faults)))
    return 1 if faults else 0


try:
    status = main()
finally:
    shutil.rmtree(folder, ignore_errors=True)
sys.exit(status)
