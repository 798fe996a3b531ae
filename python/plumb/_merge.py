# SPDX-License-Identifier: Apache-2.0
"""plumb.merge(): recordings added up."""
from __future__ import annotations

import os
import warnings
from typing import List, Tuple, Union

from plumb import _plumb
from plumb._held import Unnamed
from plumb._result import READABLE, Profile
from plumb._written import Path


def merge(*recordings: Union[Profile, Path]) -> Profile:
    """The sum of profiles, or of recordings in files: of processes, machines, days. Samples have no instants in it: time= does not work
    there. That one holds the same samples as one before it is a RuntimeWarning, and what is damaged, missing or no sample in a file."""
    if not recordings:
        raise TypeError("merge() needs at least one recording")
    for one in recordings:
        if not isinstance(one, READABLE):
            raise TypeError("merge() takes each recording, a profile or a file, as an argument of its own, not %r" % (one,))
    kept: List[Unnamed] = []  # until they are read
    paths = [os.fsencode(_written(one, kept) if isinstance(one, Profile) else one) for one in recordings]
    try:
        profile, again, missing = added_up(paths)
    except ValueError as error:  # it names the file
        raise ValueError(_with_numbers(str(error), paths, kept)) from None
    for index in again:
        text = "plumb: recording %d of merge() holds the same samples as one before it: they count twice"
        warnings.warn(text % (index + 1), RuntimeWarning, stacklevel=2)
    for one, path, notes in zip(recordings, paths, missing):
        for note in [] if isinstance(one, Profile) else notes:  # of a profile that was told when it was opened
            warnings.warn("plumb: %s: %s" % (os.fsdecode(path), note), RuntimeWarning, stacklevel=2)
    profile._read = [file for one in recordings for file in _files_of(one)]
    return profile


def _files_of(one: Union[Profile, Path]) -> List[str]:
    return one._files() if isinstance(one, Profile) else [os.path.abspath(os.fsdecode(one))]


def added_up(paths: List[bytes]) -> Tuple[Profile, List[int], List[List[str]]]:
    """The sum, which recordings hold the samples of one before them, and what is missing of each."""
    whole = Unnamed()
    again, missing = _plumb.add_up(whole.path, paths)
    return Profile(_plumb.Profile.open(whole.path)), again, missing


def _written(profile: Profile, kept: List[Unnamed]) -> str:
    kept.append(Unnamed())
    profile._now().write(kept[-1].fileno(), "plumb")
    return kept[-1].path


def _with_numbers(text: str, paths: List[bytes], kept: List[Unnamed]) -> str:
    """A message about recordings that have no name of their own."""
    for file in kept:
        text = text.replace(file.path + ":", "recording %d of merge():" % (paths.index(file.path.encode()) + 1))
    return text
