# SPDX-License-Identifier: Apache-2.0
"""Colours of a picture of a tree, and the picture in Bokeh."""
from __future__ import annotations

import sys
from typing import Any, Dict, Tuple

from plumb import _imports

# viridis, in eighteen steps
_PALETTE = (
    "#440154 #471669 #472A79 #433C84 #3C4D8A #355D8C #2E6C8E #287A8E "
    "#23898D #1E978A #20A585 #2EB27C #45BF6F #64CB5D #88D547 #AFDC2E #D7E219 #FDE724"
).split()

_HINTS = ("name", "filename", "line_number", "line", "time", "percentage")


def _md5(data: bytes) -> str:
    hashlib = _imports.imported("hashlib")  # here, for interpreters beside the first: it ends the process with them in Python 3.12.1
    # Some builds refuse MD5 unless told that nothing is kept secret by it.
    options = {"usedforsecurity": False} if sys.version_info >= (3, 9) else {}
    return str(hashlib.md5(data, **options).hexdigest())


def color_of(filename: Any) -> str:
    """A file always has the same colour."""
    if filename == "<low-level>":
        return "lightgray"
    digest = _md5(str(filename).encode("utf-8", "surrogatepass"))
    return _PALETTE[int(digest[:8], 16) % len(_PALETTE)]


def _tooltips() -> str:
    title = '<span style="font-size: 14px; font-weight: bold;">%s:</span>&nbsp;'
    value = '<span style="font-size: 10px; font-family: Monaco, monospace;">@%s</span>'
    return "".join("<div>" + title % hint.replace("_", " ").capitalize() + value % hint + "</div>" for hint in _HINTS)


def plot_figure(data: Dict[str, Any], **kwargs: Any) -> Tuple[Any, Any]:
    """What plot_data() gives, as (Bokeh figure, its data source). Needs Bokeh; arguments go to its figure()."""
    models, plotting = _imports.imported("bokeh.models"), _imports.imported("bokeh.plotting")
    source = models.ColumnDataSource(data={name: column for name, column in data.items() if name != "states"})
    picture = plotting.figure(tools="tap,box_zoom,xwheel_zoom,reset", **kwargs)
    boxes = picture.quad("left", "right", "top", "bottom", color="color", line_color="black", line_width=2, source=source)
    boxes.selection_glyph = None
    boxes.nonselection_glyph = None
    picture.add_tools(models.HoverTool(point_policy="follow_mouse", tooltips=_tooltips()))
    for hidden in (picture.xaxis, picture.yaxis, picture.grid):
        hidden.visible = False
    return picture, source
