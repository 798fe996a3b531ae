# SPDX-License-Identifier: Apache-2.0
"""The page that controls a plumb.Profiler, in a browser: its forms, its policy, and the report page that it leads to."""
import os
import subprocess

import pytest

from harness import browser as browsers, package


@pytest.fixture
def port(ordinary_python):
    """Of a program that serves it."""
    if package.why_not(ordinary_python):
        pytest.skip(package.why_not(ordinary_python))
    environment = dict(os.environ, PYTHONPATH=str(package.built()), PYTHONDONTWRITEBYTECODE="1")
    command = [*ordinary_python.command, package.SCRIPTS / "served.py"]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        yield int(program.stdout.readline())
        program.stdin.close()


def test_forms_control_the_profiler_and_lead_to_a_report(browser, port):
    context, address = browser.new_context(), "http://127.0.0.1:%d/" % port
    context.set_default_timeout(browsers.PATIENCE_MS)
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def press(name, state):
        page.get_by_role("button", name=name, exact=True).click()
        page.get_by_role("heading", name=": " + state).wait_for()

    page.goto(address)
    press("start", "running")
    page.get_by_label("seconds between samples").fill("0.002")
    press("set interval", "running")
    while page.get_by_role("cell", name="spin", exact=True).count() == 0:
        page.reload()
    press("pause", "paused")
    press("resume", "running")
    press("stop", "stopped")
    page.get_by_role("link", name="report page with flame graph").click()
    page.get_by_role("tab", name="Functions", exact=True).click()
    page.get_by_role("gridcell", name="spin").first.wait_for()
    page.goto(address)
    page.get_by_role("link", name="text", exact=True).click()
    page.get_by_text("served.py").first.wait_for()
    page.goto(address)
    press("reset", "idle")
    context.close()
    assert not complaints, complaints
