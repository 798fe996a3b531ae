# SPDX-License-Identifier: Apache-2.0
"""python -m plumb ARGUMENTS is plumb ARGUMENTS."""
import os
import signal
import sys

from plumb import _binary
from plumb._plumb import Error

_OWN_FAILURE = 125  # what plumb exits with


def main() -> None:
    # Python ignores them, and whom it executes would as well.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execv(_binary.find(), ["plumb", *sys.argv[1:]])
    except (Error, OSError) as error:
        print("plumb: %s" % error, file=sys.stderr)
        sys.exit(_OWN_FAILURE)


if __name__ == "__main__":
    main()
