# SPDX-License-Identifier: Apache-2.0
import os
from contextvars import ContextVar
from typing import Any, Collection, Dict, Iterable, List, Optional, Tuple, Type, Union, overload

from plumb._session import Status, Tree

__version__: str

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

class Error(RuntimeError):
    code: str
    hint: str

class Profile:
    @classmethod
    def open(cls, path: Path, format: Optional[str] = ...) -> Profile: ...
    @staticmethod
    def format_of(path: Path, /) -> Optional[str]: ...
    @overload
    def write(self, fd: None, format: str, *, notes: Optional[List[str]] = ..., **options: Any) -> bytes: ...
    @overload
    def write(self, fd: int, format: str, *, notes: Optional[List[str]] = ..., **options: Any) -> None: ...
    def save(self, path: Path, format: str, name: str, /, *, notes: Optional[List[str]] = ..., **options: Any) -> None: ...
    def info(self) -> Dict[str, Any]: ...
    def tree(
        self,
        *,
        omit: Union[Collection[str], str, None] = ...,
        stop: Optional[str] = ...,
        depth: Optional[int] = ...,
        lines: bool = ...,
    ) -> Tree: ...

class Session:
    def __init__(
        self,
        rate: float = ...,
        *,
        mode: str = ...,
        jitter: bool = ...,
        seed: Optional[int] = ...,
        tids: Optional[Iterable[int]] = ...,
        hidden: Iterable[int] = ...,
        max_nodes: int = ...,
        cycle: float = ...,
        max_cycles: int = ...,
        recording: Optional[Path] = ...,
        sources: bool = ...,
        opcodes: bool = ...,
        tasks: bool = ...,
        max_overhead: Optional[float] = ...,
        tags: bool = ...,
        pid: Optional[int] = ...,
        force: bool = ...,
    ) -> None: ...
    def stop(self) -> Profile: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def reset(self) -> None: ...
    def set_rate(self, hz: float, /) -> None: ...
    def event(self, name: str, labels: str, /) -> None: ...
    def status(self) -> Status: ...
    def snapshot(self) -> Profile: ...
    def recent(self) -> Profile: ...
    def cycles(self) -> List[Tuple[float, Profile]]: ...

def formats() -> Tuple[Dict[str, str], Dict[str, str], Dict[str, str]]: ...
def add_up(output: Path, recordings: List[bytes], /) -> List[int]: ...
def compare(
    before: List[Profile],
    after: List[Profile],
    format: str,
    path: Optional[Path],
    name: str,
    options: Tuple[bool, Optional[str], str, str, float, str, Tuple[float, ...]],
    /,
    **report: Any,
) -> Tuple[Optional[bytes], bool]: ...
def allow_tracer(pid: int, /) -> bool: ...

class Tag:
    def __init__(self, id: int) -> None: ...
    @property
    def id(self) -> int: ...

def new_tag(text: str, labels: str, of_request: bool, /) -> int: ...
def set_tag_place(
    var: ContextVar[Any],
    value_type: Type[Tag],
    bitmap_type: int,
    array_type: int,
    collision_type: int,
    context: int,
    vars: int,
    root: int,
    type: int,
) -> None: ...
def use_tag_place() -> None: ...
def tag_table() -> int: ...
def find_tag(thread_state: int, /) -> int: ...
def thread_state() -> int: ...
def own_memory(address: int, size: int, /) -> bytes: ...
