# SPDX-License-Identifier: Apache-2.0
"""Run by a Python that has nbclient and ipykernel: executes cells in a real kernel.

    notebook.py CELLS [PAGE]

CELLS is a JSON list of the cells' sources. Writes for each cell {"text": what it printed, "error": what it printed to standard error,
"html": [pages it showed], "value": its value's text, "raised": "Class: text"} as JSON; PAGE gets all the HTML that was shown."""
import json
import os
import pathlib
import sys
import tempfile


def told(cell):
    found = {"text": "", "error": "", "html": [], "plain": [], "value": None, "raised": None}
    for output in cell.outputs:
        if output.output_type == "stream":
            found["text" if output.name == "stdout" else "error"] += output.text
        elif output.output_type == "error":
            found["raised"] = "%s: %s" % (output.ename, output.evalue)
            found["traceback"] = "\n".join(output.traceback)
        elif output.output_type == "execute_result":
            found["value"] = output.data["text/plain"]
        else:
            found["html"].append(output.data.get("text/html", ""))
            found["plain"].append(output.data["text/plain"])
    return found


def main():
    with tempfile.TemporaryDirectory() as directory:
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
            os.environ[name] = os.path.join(directory, name)
        import nbclient
        from nbformat.v4 import new_code_cell, new_notebook
        from traitlets.config import Config

        notebook = new_notebook(cells=[new_code_cell(source) for source in json.loads(sys.argv[1])])
        patience = {"timeout": None, "startup_timeout": 600, "iopub_timeout": 600}  # of one that hangs
        # A port that is free when it is chosen may be somebody else's when the kernel takes it: so the kernel listens on sockets with names.
        config = Config(KernelManager={"transport": "ipc", "ip": os.path.join(directory, "kernel")})
        nbclient.NotebookClient(notebook, allow_errors=True, resources={"metadata": {"path": directory}}, config=config, **patience).execute()
    cells = [told(cell) for cell in notebook.cells]
    if sys.argv[2:]:
        shown = "\n".join(page for cell in cells for page in cell["html"])
        pathlib.Path(sys.argv[2]).write_text("<!doctype html><title>notebook</title>\n" + shown, encoding="utf-8")
    json.dump(cells, sys.stdout)


main()
