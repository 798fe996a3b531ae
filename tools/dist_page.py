#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Put the report page into a source distribution, so that who builds it needs no Node. Run by `meson dist`."""

import os
import pathlib
import shutil
import subprocess
import sys


def main():
    source, target = (pathlib.Path(os.environ["MESON_PROJECT_%s_ROOT" % which]) / "webui" for which in ("SOURCE", "DIST"))
    node = shutil.which("node") or shutil.which("nodejs")
    if node and (source / "node_modules").is_dir():
        subprocess.run([node, str(source / "build.mjs"), str(target)], check=True)
    elif (source / "page.html").is_file():  # this is one already
        shutil.copy(source / "page.html", target)
    else:
        sys.exit("a source distribution has the report page in it: install Node 18 or later and run 'npm ci' in webui first")


if __name__ == "__main__":
    main()
