# SPDX-License-Identifier: Apache-2.0
"""page_steps.py FILE [VIEW...]: what a hand does in the report page, one thing after the other, and all of it once more. Prints as JSON
what each cost the thread of the page, in milliseconds of CPU time: its longest task, for which nothing answers, and all of its tasks
until the page has come to rest. Run by the interpreter that has Playwright, hence on its own."""
import json
import sys

from harness import browser as browsers

CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline"]
TIMES = 2


def press(*keys):
    return lambda report: [report.page.keyboard.press(key) for key in keys]


def graph(*keys):
    return lambda report: [report.page.get_by_role("application").first.focus(), press(*keys)(report)]


def table(*keys):
    return lambda report: [report.grid().focus(), press(*keys)(report)]


def typed(text):
    """And out of the box again, which would take the next keys."""
    def act(report):
        box = report.page.get_by_role("searchbox", name="Search functions and files")
        box.fill(text)
        box.blur()
    return act


def switched(group, name):
    return lambda report: report.switch(group, name)


def over_boxes(report):
    box = report.page.get_by_role("application").first.bounding_box()
    for part in (0.2, 0.5, 0.8):
        report.page.mouse.move(box["x"] + part * box["width"], box["y"] + 90)


def wheel(report):
    over_boxes(report)
    report.page.keyboard.down("Control")
    report.page.mouse.wheel(0, -300)
    report.page.keyboard.up("Control")


def scrolled(report):
    report.grid().evaluate("grid => { grid.scrollTop = grid.scrollTop ? 0 : 3000; }")


def sorted_by(name):
    return lambda report: report.grid().get_by_role("columnheader").get_by_role("button", name=name).click()


def one_thread(report):
    with report.panel(browsers.THREADS) as panel:
        panel.get_by_role("checkbox").last.click()


def next_file(report):
    files = report.page.locator(".source-files [role=option]")
    files.nth(3).click()


# In each view: what is done, and what brings the page back, which is not measured. A page of a million stacks has no room for when
# they were: there is no range of time in it.
STEPS = {
    "Flame graph": [
        ("pointer over boxes", over_boxes, None),
        ("a box", graph("ArrowDown", "ArrowDown"), None),
        ("zoom into it", graph("Enter"), None),
        ("out of it", graph("Backspace"), None),
        ("deselect", press("Escape"), None),
        ("wheel", wheel, graph("0")),
        ("search", typed("function_7"), None),
        ("search on", typed("function_77"), typed("")),
        ("upwards (b)", press("b"), press("b")),
        ("samples (t)", press("t"), press("t")),
        ("by line (l)", press("l"), press("l")),
        ("inverted (i)", press("i"), press("i")),
        ("CPU only", switched("Which time counts", "CPU"), switched("Which time counts", "Wall")),
        ("My code only", lambda report: report.page.get_by_role("button", name="My code only").click(),
         lambda report: report.page.get_by_role("button", name="My code only").click()),
        ("one thread less", one_thread, press("u")),
        ("without folding", lambda report: report.whole_stacks(), press("u")),
        *((name, lambda report, key=key: [graph("ArrowDown", "ArrowDown", "ArrowDown")(report), press(key)(report)],
           press("u", "Escape"))
          for name, key in (("focus (f)", "f"), ("focus path (F)", "Shift+F"), ("hide (m)", "m"), ("drop (d)", "d"),
                            ("collapse module (c)", "c"), ("collapse below (x)", "x"), ("fold recursion (r)", "r"))),
    ],
    "Stack chart": [("a box", graph("ArrowDown", "ArrowDown"), None), ("zoom into it", graph("Enter"), graph("Backspace", "Escape")),
                    ("pointer over boxes", over_boxes, None)],
    "Callers and callees": [("a box", graph("ArrowUp", "ArrowUp"), None), ("another function", graph("Enter"), press("Escape"))],
    "Functions": [("scroll", scrolled, scrolled), ("by name", sorted_by("Function"), sorted_by("Self")),
                  ("a row", table("ArrowDown"), None), ("next row", table("ArrowDown"), press("Escape")),
                  ("search", typed("function_7"), typed("")), ("lines (l)", press("l"), press("l"))],
    "Call tree": [("a row", table("ArrowDown"), None), ("open all (*)", table("*"), None), ("scroll", scrolled, scrolled),
                  ("close", table("ArrowLeft"), press("Escape")), ("inverted (i)", press("i"), press("i"))],
    "Source": [("another file", next_file, press("Escape"))],
    "Statistics": [],
    "What differs": [],
}


def costs(trace):
    """The longest task, and all of them, of the thread of the page."""
    events = json.loads(trace)["traceEvents"]
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    tasks = [e.get("tdur", 0) / 1000 for e in events
             if e.get("name") == "RunTask" and threads.get((e["pid"], e["tid"])) == "CrRendererMain"]
    return [max(tasks, default=0), sum(tasks)]


class Walk:
    def __init__(self, browser, path):
        self.browser, self.found = browser, {}
        self.report = browsers.Report(browser, path)
        self.report.rest()

    def step(self, name, act):
        self.browser.start_tracing(categories=CATEGORIES)
        act(self.report)
        self.report.rest()
        self.found.setdefault(name, []).append(costs(self.browser.stop_tracing()))

    def view(self, view):
        self.step("%s: the view itself" % view, lambda report: report.tab(view))
        for name, act, back in STEPS[view]:
            self.step("%s: %s" % (view, name), act)
            if back:
                back(self.report)
                self.report.rest()


def main(path, *views):
    with browsers.launched() as launch:
        walk = Walk(launch(), path)
        for _ in range(TIMES):
            for view in views or STEPS:
                walk.view(view)
    json.dump(walk.found, sys.stdout, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
