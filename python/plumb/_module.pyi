# SPDX-License-Identifier: Apache-2.0
# What plumb.profile is to type checkers, which know no module that can be called.
from typing import Optional, Union, overload

from plumb import _frames, _gil, _history, _plot, _trees, _watch
from plumb._recording import Block, Done, Function, Printed
from plumb._threads import Threads
from plumb._written import Path
from plumb.profile import get_profile as _get_profile
from plumb.profile import ll_get_stack as _ll_get_stack
from plumb.profile import llprocess as _llprocess

class Module:
    @overload
    def __call__(self, function: Function, /) -> Function: ...
    @overload
    def __call__(
        self,
        interval: float = ...,
        *,
        threads: Threads = ...,
        hidden: Threads = ...,
        mode: str = ...,
        engine: Optional[str] = ...,
        tags: bool = ...,
        output: Optional[Path] = ...,
        force: bool = ...,
        jitter: bool = ...,
        seed: Optional[int] = ...,
        sources: bool = ...,
        opcodes: bool = ...,
        tasks: bool = ...,
        native: Union[bool, str] = ...,
        kernel: bool = ...,
        native_threads: bool = ...,
        max_overhead: Optional[float] = ...,
        done: Done = ...,
        print: Printed = ...,
    ) -> Block: ...
    History = _history.History
    call_stack = staticmethod(_frames.call_stack)
    create = staticmethod(_trees.create)
    get_profile = staticmethod(_get_profile)
    identifier = staticmethod(_trees.identifier)
    info_frame = staticmethod(_frames.info_frame)
    ll_get_stack = staticmethod(_ll_get_stack)
    llprocess = staticmethod(_llprocess)
    lock = _gil.lock
    merge = staticmethod(_trees.merge)
    plot_data = staticmethod(_trees.plot_data)
    plot_figure = staticmethod(_plot.plot_figure)
    process = staticmethod(_trees.process)
    repr_frame = staticmethod(_frames.repr_frame)
    watch = staticmethod(_watch.watch)
