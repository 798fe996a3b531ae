# SPDX-License-Identifier: Apache-2.0
"""The report page in Debian's Chromium, driven by Playwright, without a window and without a network. What is looked for is
named as a reader sees it: roles and visible names. An error in the console, or a request for anything but the file itself,
fails the test (`Report.close`)."""
import contextlib
import re
import shutil

import pytest

from harness.target import wait_until

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
PATIENCE_MS = 300_000  # after which a page is taken for one that hangs: no measure of anything, on no machine
OWN = ("file:", "blob:", "data:", "about:")

VIEWS = ["Flame graph", "Stack chart", "Callers and callees", "Functions", "Call tree", "Source", "Statistics",
         "What differs"]
THREADS = "Processes and threads that count"
STATES = "What threads were doing"
FRAMES = "Kinds of frames, folding, modules"
SHARE = "Copy or save what is shown"
NOTHING = "nothing of the page"  # on the clipboard

# untilRest() resolves when the page has drawn and waits for nothing: no frame that it asked for, and no timer but long ones,
# which take away what was said or free memory.
_WATCHED = """(() => {
    const {setTimeout, clearTimeout, requestAnimationFrame, cancelAnimationFrame} = window;
    const timers = new Set(), frames = new Set();
    window.setTimeout = (call, ms, ...values) => {
        const timer = setTimeout(() => { timers.delete(timer); call(...values); }, ms);
        if (!(ms > 1000)) timers.add(timer);
        return timer;
    };
    window.clearTimeout = timer => { timers.delete(timer); clearTimeout(timer); };
    window.requestAnimationFrame = call => {
        const frame = requestAnimationFrame(time => { frames.delete(frame); call(time); });
        frames.add(frame);
        return frame;
    };
    window.cancelAnimationFrame = frame => { frames.delete(frame); cancelAnimationFrame(frame); };
    window.untilRest = async () => {
        for (let drawn = 0; drawn < 3; drawn = timers.size + frames.size ? 0 : drawn + 1)
            await new Promise(done => requestAnimationFrame(done));
    };
})()"""

# The rows of a table of which only what is seen exists: [[number, level, [the texts of each cell]]].
_ALL_ROWS = """async grid => {
    const rows = new Map();
    const drawn = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    const texts = node => {
        const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT), found = [];
        while (walker.nextNode()) if (walker.currentNode.data !== "") found.push(walker.currentNode.data);
        return found;
    };
    for (let top = 0; ; top += grid.clientHeight / 2) {
        grid.scrollTop = top;
        do await drawn(); while (grid.textContent.includes("±…")); // intervals come a moment after the figures
        for (const row of grid.querySelectorAll("[role=row][aria-rowindex]")) {
            const cells = [...row.querySelectorAll("[role=gridcell]")];
            if (cells.length) rows.set(+row.ariaRowIndex, [+row.ariaRowIndex, +row.ariaLevel, cells.map(texts)]);
        }
        if (top + grid.clientHeight >= grid.scrollHeight) break;
    }
    grid.scrollTop = 0;
    await drawn();
    return [...rows.values()].sort((a, b) => a[0] - b[0]);
}"""


@contextlib.contextmanager
def launched():
    """A function that gives a browser, the same one as long as it runs; what is missing for it skips the test."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: ./dev setup makes an environment with it")
    chromium = shutil.which("chromium") or pytest.skip("there is no chromium (Debian: chromium)")
    with playwright.sync_playwright() as driver:
        browsers = []

        def launch():
            driver.request.new_context().dispose()  # what has happened meanwhile is told by then
            if not browsers or not browsers[-1].is_connected():
                browsers.append(driver.chromium.launch(executable_path=chromium, args=FLAGS, timeout=PATIENCE_MS))
            return browsers[-1]

        try:
            yield launch
        finally:
            for browser in browsers:
                browser.close()


class Report:
    """A page that is open."""

    def __init__(self, browser, path, fragment="", before=None, waits=True, **context):
        self.path, self._waits = path, waits
        self.errors, self.requests = [], []
        context = {"viewport": {"width": 1440, "height": 900}, "offline": True, "accept_downloads": True, **context}
        self.context = browser.new_context(**context)
        self.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.context.set_default_timeout(PATIENCE_MS)
        self.page = self.context.new_page()
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", self._on_dialog)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.add_init_script(_WATCHED)
        if before:
            self.page.add_init_script(before)
        self.go(fragment)

    def _on_console(self, message):
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _on_dialog(self, dialog):
        self.errors.append("a window: " + dialog.message)
        dialog.dismiss()

    def go(self, fragment=""):
        """Load the file anew, with what is chosen as a link says it."""
        self.page.goto("about:blank")
        self.page.goto("file://%s%s" % (self.path, fragment))
        if self._waits:
            self.page.locator("[role=tablist], [role=alert]").first.wait_for()

    def close(self):
        """What it did that no page may do."""
        self.context.close()
        return self.errors + ["a request: " + url for url in self.requests if not url.startswith(OWN)]

    # ---- where one is

    @property
    def fragment(self):
        """What is chosen, as it stands in the address once the page has come to rest."""
        self.rest()
        return self.page.evaluate("location.hash")

    def rest(self):
        """Until nothing is about to change: the address is written a while after the last change."""
        self.page.evaluate("untilRest()")

    def tab(self, name):
        self.page.get_by_role("tab", name=name, exact=True).click()

    def tab_names(self):
        return self.page.get_by_role("tab").all_inner_texts()

    @property
    def current_tab(self):
        return self.page.get_by_role("tab", selected=True).inner_text()

    # ---- what is chosen

    @contextlib.contextmanager
    def panel(self, title):
        """The small panel that the button with this title opens."""
        self.page.get_by_role("button").and_(self.page.get_by_title(title, exact=True)).click()
        panel = self.page.get_by_role("dialog", name=title)
        yield panel
        self.page.keyboard.press("Escape")
        panel.wait_for(state="detached")

    def tick(self, title, *names, on=True):
        with self.panel(title) as panel:
            for name in names:
                panel.get_by_role("checkbox", name=name).first.set_checked(on)

    def whole_stacks(self):
        """With the frames of the start of the program, which other formats do not fold."""
        self.tick(FRAMES, re.compile("Start-up frames"), on=False)

    def keep_idle(self):
        """With the threads that did nothing all along."""
        with self.panel(STATES) as panel:
            panel.get_by_role("radio", name="Count all of their time").check()

    def switch(self, group, name):
        self.page.get_by_role("group", name=group, exact=True).get_by_role("button", name=name, exact=True).click()

    def search(self, text, regex=False):
        """What the page says of it."""
        button = self.page.get_by_role("button", name="Regular expression")
        if (button.get_attribute("aria-pressed") == "true") != regex:
            button.click()
        self.page.get_by_role("searchbox", name="Search functions and files").fill(text)
        self.rest()
        return self.page.get_by_role("search").locator("output").inner_text()

    # ---- what is shown

    def grid(self):
        return self.page.locator("[role=grid], [role=treegrid]").first

    def rows(self):
        """[(level, cells)] of the table that is open, all of them; a cell is a list of texts."""
        self.rest()
        return [(level, cells) for _, level, cells in self.grid().evaluate(_ALL_ROWS)]

    def open_branches(self):
        """All of the call tree; the window has to be high enough for it."""
        closed = self.grid().locator("[role=row][aria-expanded=false]")
        while closed.count():
            closed.first.click()
            self.page.keyboard.press("*")
            self.rest()

    def functions(self):
        """[(name, place, self, total)] of the table of functions, figures as they stand there."""
        self.tab("Functions")
        return [("".join(name), "".join(place), own, total) for _, (own, total, name, place) in self.rows()]

    def menu(self, function, item):
        """Do something with a function by the menu of its row in the table of functions."""
        self.tab("Functions")
        self.search(function)  # or its row might be out of sight
        self.grid().get_by_role("row").filter(has=self.page.get_by_text(function, exact=True)).first.click(button="right")
        self.page.get_by_role("menu").get_by_role("menuitem", name=item).click()
        self.search("")

    def clipboard_after(self, button):
        """What a click on it puts on the clipboard. That the page says so may be of what was copied before, and it is put there a while later."""
        self.page.evaluate("text => navigator.clipboard.writeText(text)", NOTHING)
        button.click()
        found = []

        def is_there():
            found[:] = [self.page.evaluate("navigator.clipboard.readText()")]
            return found != [NOTHING]

        wait_until(is_there, "nothing is copied")
        return found[0]

    def copied(self, item):
        """What an entry of the panel "Share" puts on the clipboard."""
        with self.panel(SHARE) as panel:
            text = self.clipboard_after(panel.get_by_role("button", name=item))
        self.page.get_by_role("status").filter(has_text="Copied").wait_for()
        return text

    def saved(self, item, path):
        """What an entry of the panel "Share" gives to be saved."""
        with self.page.expect_download() as download:
            with self.panel(SHARE) as panel:
                panel.get_by_role("button", name=item).click()
        download.value.save_as(path)
        return path

    def accessibility(self):
        """[(role, name, {property: value})] of what assistive technology is given."""
        session = self.context.new_cdp_session(self.page)
        nodes = session.send("Accessibility.getFullAXTree")["nodes"]
        session.detach()
        found = []
        for node in nodes:
            if not node["ignored"]:
                properties = {p["name"]: p["value"].get("value") for p in node.get("properties", [])}
                found.append((node["role"]["value"], node.get("name", {}).get("value", ""), properties))
        return found
