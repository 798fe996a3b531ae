# SPDX-License-Identifier: Apache-2.0
"""merge(): recordings added up on a cluster, whose graph is a tree of sums."""
from __future__ import annotations

import os
import warnings
from typing import Any, List, Optional, Sequence, Tuple

import fsspec

from plumb import _merge, _plumb
from plumb._held import Unnamed
from plumb._result import Profile
from plumb._written import Path
from plumb.dask._client import checked_client

_FILES = 16  # that one task adds up
_SUMS = 8


def _held(data: bytes) -> Unnamed:
    file = Unnamed()
    with os.fdopen(os.dup(file.fileno()), "wb") as target:
        target.write(data)
    return file


def opened(data: bytes) -> _plumb.Profile:
    file = _held(data)  # until it is read
    return _plumb.Profile.open(file.path)


def condensed(recording: Profile) -> bytes:
    """A recording as plumb.merge() makes one of it."""
    return _bytes_of(_merge.merge(recording))


def _bytes_of(profile: Profile) -> bytes:
    return profile._now().write(None, "plumb")


def sum_of(parts: Sequence[bytes]) -> bytes:
    """Of recordings; empty ones are none."""
    some = [part for part in parts if part]
    if len(some) < 2:
        return some[0] if some else b""
    files = [_held(part) for part in some]
    return _bytes_of(_merge.merge(*(file.path for file in files)))


Sum = Tuple[bytes, List[str]]  # and what is to be told of files in it


def sum_of_files(paths: Sequence[str]) -> Sum:
    """Of recordings that are where fsspec finds them."""
    files = []
    for path in paths:
        with fsspec.open(path, "rb") as source:
            files.append(_held(source.read()))
    profile, again, missing = _merge.added_up([os.fsencode(file.path) for file in files])
    twice = ["%s holds the same samples as one before it: they count twice" % paths[index] for index in again]
    return _bytes_of(profile), twice + ["%s: %s" % (path, note) for path, notes in zip(paths, missing) for note in notes]


def merge(paths: Sequence[Path], client: Optional[Any] = None) -> Profile:
    """plumb.merge(*paths), done by the workers of a cluster: paths are files that they see, or what fsspec can open ("s3://...")."""
    if client is None:
        return _merge.merge(*paths)
    if not paths:
        raise TypeError("merge() needs at least one recording")
    checked_client(client, "the sum is waited for")
    names = [os.fsdecode(path) for path in paths]
    sums: List[Any] = [client.submit(sum_of_files, names[at : at + _FILES], pure=False) for at in range(0, len(names), _FILES)]
    while len(sums) > 1:
        sums = [client.submit(_sum_of_several, *sums[at : at + _SUMS], pure=False) for at in range(0, len(sums), _SUMS)]
    whole, notes = sums[0].result()
    for note in notes:
        warnings.warn("plumb: " + note, RuntimeWarning, stacklevel=2)
    return Profile(opened(whole), None, names)


def _sum_of_several(*parts: Sum) -> Sum:
    return sum_of([part for part, _ in parts]), [note for _, notes in parts for note in notes]
