# SPDX-License-Identifier: Apache-2.0
"""That something is refused, for scripts that run where there is no pytest."""


def raises(kind, function, *arguments, **options):
    """The exception of that kind."""
    try:
        function(*arguments, **options)
    except kind as error:
        return error
    raise AssertionError("no %s" % kind.__name__)


def refusal(kind, function, *arguments, **options):
    """What it says."""
    return str(raises(kind, function, *arguments, **options))
