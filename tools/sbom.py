#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py: what is in a release, as CycloneDX 1.5 JSON on standard output. Of what is linked in or called the version is that of
the files it was built with; the page's parts are those of webui/package-lock.json that end up in it."""

import datetime
import json
import os
import pathlib
import re
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[1]


def pkg_config(name):
    return subprocess.run(["pkg-config", "--modversion", name], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def installed(package):
    return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def library(name, version, licence, purl, described):
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, "description": described,
            "licenses": [{"expression": licence} if " " in licence else {"license": {"id": licence}}]}


def page_parts():
    """What the page has at run time: the dependencies, without what only builds it."""
    lock = json.loads((TOP / "webui" / "package-lock.json").read_text())
    for path, package in lock["packages"].items():
        if path and not package.get("dev"):
            name = path.rpartition("node_modules/")[2]
            yield library(name, package["version"], package["license"], "pkg:npm/%s@%s" % (name, package["version"]), "in the report page")


def main():
    version = re.search(r"version: '(.*?)'", (TOP / "meson.build").read_text())[1]
    zlib, zstd, lzma = pkg_config("zlib"), pkg_config("libzstd"), pkg_config("liblzma")
    iberty = installed("libiberty-dev")
    components = [
        library("zlib", zlib, "Zlib", "pkg:generic/zlib@" + zlib, "in the wheels and the archive of the program; the Debian package uses that of the system"),
        library("zstd", zstd, "BSD-3-Clause", "pkg:generic/zstd@" + zstd, "in the wheels and the archive of the program; the Debian package uses that of the system"),
        library("liblzma", lzma, "0BSD", "pkg:generic/xz@" + lzma, "in the wheels and the archive of the program; the Debian package uses that of the system"),
        library("libiberty", iberty, "GPL-2.0-or-later WITH GCC-exception-2.0", "pkg:generic/libiberty@" + iberty, "its demanglers, in all that is built"),
        *page_parts(),
    ]
    # The commit's date, so that the same source gives the same text.
    when = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    own = {"type": "application", "bom-ref": "plumb", "name": "plumb", "version": version, "licenses": [{"license": {"id": "Apache-2.0"}}]}
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"timestamp": when, "component": own}, "components": components,
           "dependencies": [{"ref": "plumb", "dependsOn": [component["bom-ref"] for component in components]}]}
    print(json.dumps(bom, indent="\t"))


main()
