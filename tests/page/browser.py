"""Chromium without a window, driven through its DevTools pipe: no package is needed beside chromium itself."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile


def chromium():
    """The program, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Browser:
    def __init__(self):
        self.home = tempfile.mkdtemp()
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def pipes():  # the browser reads from 3 and writes to 4
            a, b = os.dup(to_browser), os.dup(from_browser)
            os.dup2(a, 3)
            os.dup2(b, 4)

        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
                 "--remote-debugging-pipe", "--no-first-run", "--user-data-dir=" + self.home, "about:blank"]
        self.process = subprocess.Popen([chromium()] + flags, preexec_fn=pipes, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session, self.said, self.asked = b"", 0, None, [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def read(self):
        """The next message; what the page throws, says and loads is kept."""
        while b"\0" not in self.buffer:
            if not select.select([self.into], [], [], 60)[0]:
                raise RuntimeError("the browser says nothing")
            piece = os.read(self.into, 1 << 20)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.said.append(details.get("exception", {}).get("description", details["text"]))
        if method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.said.append(params["entry"]["text"])
        if method == "Network.requestWillBeSent":
            self.asked.append(params["request"]["url"])
        return message

    def call(self, method, **params):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]

    def wait(self, method):
        while self.read().get("method") != method:
            pass

    def size(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        self.said, self.asked = [], []
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait("Page.loadEventFired")
        self.run("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))")

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", script))
        return answer["result"].get("value")

    def place(self, css):
        """The middle of the first such element, scrolled into view."""
        return self.run("(e => { e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
                        " return [r.left + r.width / 2, r.top + r.height / 2]; })(document.querySelector(%s))" % json.dumps(css))

    def mouse(self, kind, at, button="none"):
        self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button=button,
                  buttons=1 if button == "left" else 0, clickCount=1 if kind != "mouseMoved" else 0)

    def hover(self, css):
        self.mouse("mouseMoved", self.place(css))

    def click(self, css):
        at = self.place(css)
        self.mouse("mouseMoved", at)
        self.mouse("mousePressed", at, "left")
        self.mouse("mouseReleased", at, "left")

    def drag(self, a, b):
        self.mouse("mouseMoved", a)
        self.mouse("mousePressed", a, "left")
        for k in range(1, 5):
            self.mouse("mouseMoved", [a[0] + (b[0] - a[0]) * k / 4, a[1] + (b[1] - a[1]) * k / 4], "left")
        self.mouse("mouseReleased", b, "left")

    def key(self, name):
        text = {"text": "\r"} if name == "Enter" else {"text": name} if len(name) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, code=name, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, code=name)

    def picture(self, path):
        height = self.run("document.documentElement.scrollHeight")
        width = self.run("innerWidth")
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})
        with open(path, "wb") as f:
            f.write(base64.b64decode(shot["data"]))
