# SPDX-License-Identifier: Apache-2.0
"""Pictures of the report page for five kinds of program, in every look and every view, to be looked at by somebody who has changed
it: `./dev sample DIR` calls it with the Python that has Playwright. The programs are those of docs/user/five-programs.md."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import demo_machine
from harness import browser as browsers

TOP = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = TOP / "docs" / "user" / "five-programs.md"
COMMAND = re.compile(r"^\$ plumb run (.*?)-- python3 (examples/(\w+)\.py)$", re.M)

DESK, PHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 844}
# How the page is opened, and as whose eyes see it (Emulation.setEmulatedVisionDeficiency).
LOOKS = {
    "light": ({"viewport": DESK, "color_scheme": "light"}, "none"),
    "dark": ({"viewport": DESK, "color_scheme": "dark"}, "none"),
    "phone": ({"viewport": PHONE, "color_scheme": "light", "has_touch": True, "is_mobile": True}, "none"),
    "grey": ({"viewport": DESK, "color_scheme": "light"}, "achromatopsia"),
    "grey-dark": ({"viewport": DESK, "color_scheme": "dark"}, "achromatopsia"),
    "no-green": ({"viewport": DESK, "color_scheme": "light"}, "deuteranopia"),
}


def pages(plumb, folder):
    """The report page of each program, by its name."""
    with tempfile.TemporaryDirectory() as srv:
        shutil.copytree(TOP / "examples", srv + "/examples")
        for options, program, name in COMMAND.findall(PROGRAMS.read_text(encoding="utf-8")):
            recording, page = folder / (name + ".plumb"), folder / (name + ".html")
            demo_machine.run(srv, plumb, "run", "-q", "-o", "/srv/" + recording.name, *options.split(), "--", "python3", program)
            shutil.move(srv + "/" + recording.name, recording)
            subprocess.run([plumb, "report", recording, "-f", "html", "--force", "-o", page], check=True, stdout=subprocess.DEVNULL)
            yield name, page


def draw(report, eyes, path):
    report.page.mouse.move(0, 0)
    report.rest()
    tools = report.context.new_cdp_session(report.page)
    tools.send("Emulation.setEmulatedVisionDeficiency", {"type": eyes})
    report.page.screenshot(path=path)
    tools.send("Emulation.setEmulatedVisionDeficiency", {"type": "none"})  # what is clicked would be found elsewhere
    print(path, flush=True)


def main(plumb, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with browsers.launched() as launch:
        for name, page in pages(plumb, folder):
            for look, (context, eyes) in LOOKS.items():
                report = browsers.Report(launch(), page.resolve(), **context)
                for view in browsers.VIEWS:
                    report.tab(view)
                    draw(report, eyes, folder / ("%s.%s.%s.png" % (name, view.replace(" ", "-").lower(), look)))
                complaints = report.close()
                if complaints:
                    sys.exit("%s, %s: %s" % (name, look, complaints))


if __name__ == "__main__":
    main(*sys.argv[1:])
