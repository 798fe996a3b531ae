# SPDX-License-Identifier: Apache-2.0
"""Interpreters that can have the package."""
import pytest

from harness import package


def _able(python):
    if package.why_not(python):
        pytest.skip(package.why_not(python))
    return python


@pytest.fixture
def able(minor):
    """One of each minor release."""
    return _able(minor)


@pytest.fixture
def one(either):
    """An ordinary one, and free-threaded ones."""
    return _able(either)


@pytest.fixture
def with_gil(any_python):
    """For what is about the GIL."""
    return _able(any_python)


@pytest.fixture
def some(able, effort):
    """For what takes long."""
    if effort(able.minor not in ((3, 8), (3, 12), (3, 15)) and not able.free_threaded, False):
        pytest.skip("one old, one new, one between and the free-threaded ones are enough, without --soak")
    return able
