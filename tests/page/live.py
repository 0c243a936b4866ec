"""The model in a page, in a browser: what is edited there costs what `eval` says of the same files.
    live.py TILEFLOW, in the root of the sources; TILEFLOW was built with -DTF_LIVE"""
import json
import os
import subprocess
import sys
import tempfile
import time

from browser import Browser, chromium

if not chromium():
    print("SKIP: no chromium")
    sys.exit(77)

tool, folder, faults = sys.argv[1], tempfile.mkdtemp(), []
FILES = ["arch-specs/edge.yaml", "workloads/attention/g1.yaml", "workloads/dataflows/edge/attention-flat-rgran.yaml"]
page = os.path.join(folder, "page.html")
subprocess.run([tool, "eval", *FILES, "--html", page, "--live", "--quiet"], check=True)
b = Browser()
b.open(page)


def check(holds, what):
    if not holds:
        faults.append(what)
        print(what)


def note():
    return b.run("document.querySelector('.live .note[aria-live]').textContent")


def wait(old):
    begun = time.time()
    while note() == old and time.time() - begun < 30:
        time.sleep(0.05)
    return note()


def edit(before, after):
    """Changes the file that is open, as typing does; says what it is then."""
    return b.run("(a => { a.value = a.value.replace(%r, %r); a.dispatchEvent(new Event('input')); return a.value; })(document.querySelector('.live textarea'))" % (before, after))


def cycles(text):
    changed = os.path.join(folder, "changed.yaml")
    with open(changed, "w") as f:
        f.write(text)
    out = subprocess.run([tool, "eval", *FILES[:2], changed, "--json", "-"], capture_output=True, text=True)
    return json.loads(out.stdout)["cycles"]


shown = wait("")
check(os.path.getsize(page) < 1000000, "the page has %d bytes" % os.path.getsize(page))
check("Counted in" in shown and "1.00 x those of the file" in shown, "the files as they are: " + shown)
# the model itself, beside the program, on mappings that are edited
for before, after in (("DRAM for h=2 m=4", "DRAM for m=4 h=2"), ("DRAM for m=4 h=2", "DRAM for h=2 m=8"), ("L1 for m=4 l=16", "L1 for l=16 m=4")):
    text, shown = edit(before, after), wait(shown)
    figure = b.run("document.querySelector('.figures b').textContent")
    exact = cycles(text)
    check(figure == b.run("real(%r)" % exact), "after %s the page says %s cycles, eval %r" % (after, figure, exact))
# what is wrong is said with its place, and the last that counted stays
edit("h=2 m=8", "h=2 m=8 q=3")
shown = wait(shown)
check("does not count" in shown and "E_NAME" in b.run("document.querySelector('.faults').textContent"), "a dim that is not there: " + shown)
check(figure == b.run("document.querySelector('.figures b').textContent"), "the last figures are gone")
b.click(".live .back")
shown = wait(shown)
check("1.00 x those of the file" in shown, "'as it was' does not bring the files back: " + shown)
# the slider changes the number at the cursor
b.run("(a => { a.selectionStart = a.selectionEnd = a.value.indexOf('h=2') + 2; a.dispatchEvent(new Event('click')); })(document.querySelector('.live textarea'))")
b.run("(s => { s.value = 4; s.dispatchEvent(new Event('input')); })(document.querySelector('.live input'))")
shown = wait(shown)
check("h=4" in b.run("document.querySelector('.live textarea').value"), "the slider changes nothing")
check(not b.said and len(b.asked) == 1, "the page says %s and loads %s" % (b.said, b.asked))
rate = b.run("""(async () => { const m = await liveModel(), inputs = {files: data.mapping.files, set: data.set}, begun = performance.now();
  let n = 0; for (; performance.now() - begun < 1000; n++) m(inputs); return n / (performance.now() - begun) * 1000; })()""")
print("%s bytes, %s whole reports a second" % (os.path.getsize(page), rate))
b.close()
sys.exit(1 if faults else 0)
