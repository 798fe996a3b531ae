# SPDX-License-Identifier: Apache-2.0
"""page_viewers.py KIND FILE [RUNS]: open a page in Chromium and print as JSON how long it takes until it can be used, until a zoom
and a search are on the screen, for how long it answers nothing, and what memory its process has. Run by the interpreter that has
Playwright, hence on its own."""
import json
import statistics
import sys

from harness import browser as browsers

PATIENCE_MS = 120_000

# A page's policy may forbid to make functions of text: so what is to be done is a part of what is evaluated.
_DRAWN = """const drawn = () => new Promise((done, failed) => requestAnimationFrame(() => {
        if (performance.now() > window.patience) failed(new Error("nothing comes"));
        const channel = new MessageChannel();
        channel.port1.onmessage = done;
        channel.port2.postMessage(0);
    }));"""
# Seconds from the beginning of the navigation to the frame behind the one in which it is first there.
_WAIT_READY = """async () => {
    window.patience = %d;
    %s
    while (!(%s)) await drawn();
    await drawn();
    return performance.now() / 1000;
}"""
# Milliseconds from doing something to the painted frame in which it is shown.
_ACT = """async () => {
    window.patience = performance.now() + %d;
    %s
    await drawn();
    const began = performance.now();
    %s;
    do await drawn(); while (!(%s));
    return performance.now() - began;
}"""

_KEY = 'document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "%s", bubbles: true, cancelable: true}))'
_TYPE = """const box = document.querySelector(%s);
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(box, %s);
    box.dispatchEvent(new InputEvent("input", {bubbles: true}));"""


class PlumbPage:
    ready = 'document.querySelector("[role=application] canvas")?.width > 0'

    def walk(self, page):
        """Through all views, with a function selected that is most of the program, by line and inverted."""
        graph = page.get_by_role("application").first
        rest = "async () => { for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame); }"
        graph.focus()
        for key in ("ArrowDown", "l", "l", "i", "i"):
            page.keyboard.press(key)
            page.evaluate(rest)
            page.wait_for_timeout(1000)  # it is drawn when it is made, and nothing tells when
        for view in browsers.VIEWS:
            page.get_by_role("tab", name=view, exact=True).click()
            page.evaluate(rest)
            page.wait_for_timeout(1000)

    def zooms(self, page):
        """Into the widest callee, and out again; a frame says that it is there."""
        page.locator("[role=application]").first.focus()
        for _ in range(2):
            page.keyboard.press("ArrowDown")
        return [(_KEY % "Enter", "true"), (_KEY % "Backspace", "true")] * 3

    def searches(self, page):
        found = 'document.querySelector("[role=search] output").textContent.includes("found")'
        return [(_TYPE % ('"#search"', json.dumps("function_%d" % i)), found) for i in range(1, 7)]


class CPython:
    walk = None
    ready = 'document.querySelectorAll("#chart .frame").length > 0'

    def zooms(self, page):
        """It moves for 0.3 s, which is how long one waits."""
        click = 'document.querySelectorAll("#chart .frame")[%d].dispatchEvent(new MouseEvent("click", {bubbles: true}))'
        still = '(() => { const now = [...document.querySelectorAll("#chart .frame rect")].slice(0, 20)' \
                '.map(r => r.getAttribute("width")).join(); const same = window.last === now; window.last = now;' \
                'window.frames_still = same ? (window.frames_still || 0) + 1 : 0; return window.frames_still > 2; })()'
        return [(click % 1, still), (click % 0, still)] * 2

    def searches(self, page):
        shown = 'document.querySelector("#chart .search-match, #chart .search-dim") !== null'
        clear = 'document.querySelectorAll("#chart .search-match, #chart .search-dim")' \
                '.forEach(e => e.classList.remove("search-match", "search-dim"));'
        return [(clear + _TYPE % ('"#search-input"', json.dumps("function_%d" % i)), shown) for i in range(1, 4)]


class Speedscope:
    walk = None
    ready = 'document.body.textContent.includes("Left Heavy") && !document.body.textContent.includes("Loading") && ' \
            'document.querySelectorAll("canvas").length > 0'

    def zooms(self, page):
        """It draws into a canvas and moves there: nothing says when it has arrived."""
        return []

    def searches(self, page):
        return []


KINDS = {"plumb": PlumbPage, "cpython": CPython, "speedscope": Speedscope}


def memory(browser, page):
    """Of the process that shows the page, without what it shares with others."""
    page.context.new_cdp_session(page).send("HeapProfiler.collectGarbage")
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    return max(_private(process["id"]) for process in processes if process["type"] == "renderer")


def _private(pid):
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as f:
        return sum(1024 * int(line.split()[1]) for line in f if line.startswith("Private_"))


def longest_task(trace):
    """Milliseconds of CPU time that the thread of the page took for the longest of what it did at once."""
    events = json.loads(trace)["traceEvents"]
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    tasks = [e for e in events if e.get("name") == "RunTask" and threads.get((e["pid"], e["tid"])) == "CrRendererMain"]
    return max(e.get("tdur", 0) for e in tasks) / 1000


def block(browser, kind, url):
    """Of opening the page and going through it."""
    page = browser.new_context(offline=True, viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(PATIENCE_MS)
    browser.start_tracing(page=page, categories=["devtools.timeline", "disabled-by-default-devtools.timeline"])
    page.goto(url, wait_until="commit", timeout=PATIENCE_MS)
    page.evaluate(_WAIT_READY % (PATIENCE_MS, _DRAWN, kind.ready))
    kind.walk(page)
    return longest_task(browser.stop_tracing())


def look(kind, url):
    with browsers.launched() as launch:
        browser = launch()
        page = browser.new_context(offline=True, viewport={"width": 1440, "height": 900}).new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(url, wait_until="commit", timeout=PATIENCE_MS)
        figures = {"load_s": page.evaluate(_WAIT_READY % (PATIENCE_MS, _DRAWN, kind.ready))}
        for name, actions in (("zoom_ms", kind.zooms(page)), ("search_ms", kind.searches(page))):
            times = [page.evaluate(_ACT % (PATIENCE_MS, _DRAWN, *action)) for action in actions]
            figures[name] = statistics.median(times) if times else None
        figures["heap_bytes"] = memory(browser, page)
        figures["block_ms"] = block(browser, kind, url) if kind.walk else None
    return figures


def main():
    kind, url = sys.argv[1:3]
    looks = [look(KINDS[kind](), url) for _ in range(int(sys.argv[3]) if len(sys.argv) > 3 else 1)]
    median = {name: None if looks[0][name] is None else statistics.median(one[name] for one in looks) for name in looks[0]}
    json.dump(median, sys.stdout)


if __name__ == "__main__":
    main()
