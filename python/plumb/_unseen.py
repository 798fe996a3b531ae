# SPDX-License-Identifier: Apache-2.0
"""Frames of ours that only lead to the program's own functions: profiles leave them out."""
from __future__ import annotations

import functools
import types
from typing import Any, Callable, TypeVar

NAME = "<plumb>"
"""Of code whose frames are left out, whoever samples it: what it calls stands below who called it."""

Function = TypeVar("Function", bound=Callable[..., Any])


@functools.lru_cache(maxsize=None)
def _renamed(code: types.CodeType) -> types.CodeType:
    return code.replace(co_name=NAME)


def unseen(function: Function) -> Function:
    function.__code__ = _renamed(function.__code__)
    return function
