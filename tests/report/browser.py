#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Opens pages in headless Chromium, by its debugging pipe.

    browser.py check [--pictures DIR] PAGE...     no message on the console, no request, plots drawn; prints a line each
    browser.py frames PAGE                        pans and zooms each plot; prints the longest frame in ms
    browser.py picture PAGE FILE WIDTH HEIGHT     a picture of the page's top
    browser.py served [--pictures DIR] ADDRESS JOB...   the page of `ioscribe serve`: its list, then each job; their
                                                  tables as JSON; fails as check does

--pictures: light and dark, 1,280 and 400 pixels, and as PDF.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="ioscribe-browser.")
        out_read, self.write = os.pipe()
        self.read, in_write = os.pipe()

        def descriptors():
            os.dup2(out_read, 3)
            os.dup2(in_write, 4)

        # Its own sandbox needs namespaces that a test machine may refuse; the pages are ours.
        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-extensions",
             "--user-data-dir=" + self.folder, "--remote-debugging-pipe"],
            preexec_fn=descriptors, pass_fds=(3, 4), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(out_read)
        os.close(in_write)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def message(self):
        while b"\0" not in self.buffer:
            more = os.read(self.read, 1 << 20)
            if not more:
                sys.exit("chromium is gone")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def navigate(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message())

    def open(self, path):
        self.navigate("file://" + os.path.abspath(path))
        # Cells are unpacked after the load event.
        self.run("""new Promise(done => { const wait = () => typeof data === "object" &&
            [...(data.grids ?? []), ...(data.timelines ?? [])].every(g => g.levels.every(l => l.ready)) ? requestAnimationFrame(() => done(true))
            : setTimeout(wait, 20); wait(); })""")

    def run(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            sys.exit(f"{expression[:60]}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def complaints(self, own):
        for e in self.events:
            method, params = e.get("method"), e.get("params", {})
            if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                yield json.dumps(params)[:300]
            if method == "Network.requestWillBeSent" and not own(params["request"]["url"]):
                yield "a request: " + params["request"]["url"][:100]

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def picture(self, file, whole):
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(file, "wb") as f:
            f.write(base64.b64decode(shot["data"]))

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


# Of each plot: is anything drawn beside the background; of the page: is it wider than the window.
STATE = """(() => {
    const drawn = [...document.querySelectorAll("canvas")].map(c => {
        const copy = new OffscreenCanvas(c.width, c.height).getContext("2d", {willReadFrequently: true}), colours = new Set();
        copy.drawImage(c, 0, 0);
        const pixels = copy.getImageData(0, 0, c.width, c.height).data;
        for (let i = 0; i < pixels.length; i += 4)
            colours.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
        return colours.size;
    });
    return {sections: document.querySelectorAll("section").length, drawn,
        wide: document.documentElement.scrollWidth > innerWidth, rows: document.querySelectorAll("tbody tr").length};
})()"""
FRAMES = """(async () => {
    const frame = () => new Promise(done => requestAnimationFrame(done));
    let worst = 0;
    for (const canvas of document.querySelectorAll("canvas")) {
        canvas.focus();
        for (let i = 0; i < 60; i++) {
            const key = i < 12 ? "+" : i < 48 ? (i % 8 < 4 ? "ArrowRight" : "ArrowLeft") : "-", begin = performance.now();
            canvas.dispatchEvent(new KeyboardEvent("keydown", {key}));
            await frame();
            worst = Math.max(worst, performance.now() - begin);
        }
    }
    return worst;
})()"""


# Waits for the answers about a view whose title begins with `title`; its tables as texts and values by section.
SERVED = """new Promise((done, failed) => {
    let turns = 0;
    const cell = c => c.title || c.textContent;
    const wait = () => {
        const state = document.getElementById("state").textContent;
        if (document.getElementById("title").textContent.startsWith(%s) && state.startsWith("as of"))
            done({state, title: document.title, report: document.getElementById("report").hidden ? "" : document.getElementById("report").href,
                cards: Object.fromEntries([...document.querySelectorAll("dl div")].map(d => [d.children[0].textContent, d.children[1].textContent])),
                tables: Object.fromEntries([...document.querySelectorAll("section")].filter(s => s.querySelector("table"))
                    .map(s => [s.querySelector("h2").textContent, [...s.querySelectorAll("tbody tr")].map(r => [...r.children].map(cell))]))});
        else if (++turns > 1500)
            failed(new Error(document.getElementById("title").textContent + ": " + state));
        else
            setTimeout(wait, 20);
    };
    wait();
})"""


def served(browser, address, jobs, pictures):
    host, wrong, found = address.split("/page")[0], [], {}
    browser.size(1280, 900)
    browser.navigate(address)
    found["jobs"] = browser.run(SERVED % '"Jobs"')
    for job in ["jobs", *jobs]:
        if job != "jobs":
            browser.run(f'document.getElementById("state").textContent = ""; location.hash = "job={job}"')
            found[job] = browser.run(SERVED % json.dumps("Job " + job.split("&")[0]))
        for width in (1280, 400):
            browser.size(width, 900)
            state = browser.run(STATE)
            if state["wide"]:
                wrong.append(f"{job}: wider than a window of {width} pixels")
            if any(colours < 4 for colours in state["drawn"]):
                wrong.append(f"{job}: a plot is empty")
            for scheme in ("light", "dark") if pictures else ():
                browser.scheme(scheme)
                browser.picture(os.path.join(pictures, f"served.{job}.{width}.{scheme}.png"), True)
        browser.size(1280, 900)
    wrong += browser.complaints(lambda url: url.startswith((host + "/", "data:")))
    print(json.dumps(found))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def check(browser, pages, pictures):
    bad = 0
    for page in pages:
        browser.size(1280, 900)
        browser.scheme("light")
        browser.open(page)
        state, wrong = browser.run(STATE), []
        if any(colours < 4 for colours in state["drawn"]):
            wrong.append("a plot is empty")
        for width in (1280, 400):
            browser.size(width, 900)
            if browser.run(STATE)["wide"]:
                wrong.append(f"wider than a window of {width} pixels")
            for scheme in ("light", "dark") if pictures else ():
                browser.scheme(scheme)
                name = os.path.basename(page).removesuffix(".html")[:60]
                browser.picture(os.path.join(pictures, f"{name}.{width}.{scheme}.png"), True)
        if pictures:
            with open(os.path.join(pictures, os.path.basename(page)[:60] + ".pdf"), "wb") as f:
                f.write(base64.b64decode(browser.call("Page.printToPDF")["data"]))
        wrong += browser.complaints(lambda url: url == "file://" + os.path.abspath(page))
        print(f"{state['sections']} sections, {len(state['drawn'])} plots, {state['rows']} rows: {page}")
        for line in wrong:
            print("  " + line)
        bad += bool(wrong) or state["sections"] < 3
    return bad


def main():
    what, arguments = sys.argv[1], sys.argv[2:]
    browser = Browser()
    try:
        pictures = arguments[1] if arguments[0] == "--pictures" else None
        if pictures:
            del arguments[:2]
        if what == "check":
            return 1 if check(browser, arguments, pictures) else 0
        if what == "served":
            return served(browser, arguments[0], arguments[1:], pictures)
        browser.size(1280, 900)
        if what == "picture":
            browser.size(int(arguments[2]), int(arguments[3]))
        browser.open(arguments[0])
        if what == "picture":
            browser.picture(arguments[1], False)
        else:
            print(f"{browser.run(FRAMES):.1f}")
        return 0
    finally:
        browser.close()


sys.exit(main())
