# SPDX-License-Identifier: Apache-2.0
"""Make docs/user/sample-report.html and the pictures in docs/user/images anew from a real run of examples/pipeline.py. `./dev sample`
calls it with the Python that has Playwright."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import demo_machine
import small_png
from harness import browser as browsers

TOP = pathlib.Path(__file__).resolve().parents[1]
DOCS = TOP / "docs" / "user"
LARGEST = 330_000
SECONDS = "6"


def record(plumb, folder):
    shutil.copy(TOP / "examples" / "pipeline.py", folder)
    demo_machine.run(folder, plumb, "run", "-r", "100", "-o", "/srv/pipeline.plumb", "--", "python3", "pipeline.py", SECONDS)
    return folder + "/pipeline.plumb"


def settled(report):
    """With nothing that the pointer left behind."""
    report.page.mouse.move(0, 0)
    report.rest()


def show_flame_graph(report):
    report.menu("parse", "Show callers and callees")
    report.tab("Flame graph")


def show_source(report):
    report.menu("parse", "Show source")


def show_phone(report):
    report.tab("Flame graph")


DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
PICTURES = {
    "report-light.png": (show_flame_graph, {"viewport": DESK, "color_scheme": "light"}),
    "report-source.png": (show_source, {"viewport": DESK, "color_scheme": "light"}),
    "report-dark.png": (show_flame_graph, {"viewport": DESK, "color_scheme": "dark"}),
    "report-phone.png": (show_phone, {"viewport": PHONE, "color_scheme": "light", "has_touch": True, "is_mobile": True}),
}


def draw(page, images):
    images.mkdir(exist_ok=True)
    with browsers.launched() as launch:
        for name, (show, look) in PICTURES.items():
            report = browsers.Report(launch(), page, **look)
            show(report)
            settled(report)
            report.page.screenshot(path=images / name)
            small_png.main(images / name)
            complaints = report.close()
            if complaints:
                sys.exit("%s: %s" % (name, complaints))


def main():
    plumb = os.environ.get("PLUMB_BIN") or str(TOP / "build" / "plumb")
    page = DOCS / "sample-report.html"
    with tempfile.TemporaryDirectory() as folder:
        recording = record(plumb, folder)
        subprocess.run([plumb, "report", recording, "-f", "html", "--force", "-o", str(page)], check=True)
    if page.stat().st_size >= LARGEST:
        sys.exit("%s has %d bytes; a sample has less than %d" % (page, page.stat().st_size, LARGEST))
    draw(page, DOCS / "images")


if __name__ == "__main__":
    main()
