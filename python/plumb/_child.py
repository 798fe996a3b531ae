# SPDX-License-Identifier: Apache-2.0
"""A program that was started, as a child of this process for which somebody else may wait: a loop of the program's for all of its children.
From then on its number may be another process's, which is neither signalled nor waited for here.
"""
from __future__ import annotations

import contextlib
import os
import subprocess
import time
from typing import List, Optional

from plumb._plumb import signal_child, started

_LOOK_SECONDS = 0.002


class Child:
    """There is no lock, as Popen has one: a signal handler may do anything here that it has interrupted."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.pid = process.pid
        self._started = started(self.pid)
        self._codes: List[int] = []  # with which it has ended: the first one, whoever found it
        self._gone = False
        process.returncode = 0  # it is to wait for nobody when it goes away

    def forget(self) -> None:
        """It is nobody's here: as in the child of a fork."""
        self._codes.append(0)
        self._gone = True

    def runs(self) -> bool:
        return self._code() is None

    def wait(self, seconds: Optional[float] = None) -> Optional[int]:
        """With which code it has ended, minus the signal that has ended it; 0 if somebody else knows. None: it has not by then."""
        end = None if seconds is None else time.monotonic() + seconds
        while self._code() is None and (end is None or time.monotonic() < end):
            time.sleep(_LOOK_SECONDS)
        return self._code()

    def signal(self, signo: int) -> bool:
        """False: it has ended, we may not, or it cannot be seen from here."""
        try:
            return self.runs() and signal_child(self.pid, self._started, signo)
        except PermissionError:
            return False

    def _code(self) -> Optional[int]:
        if not self._gone:
            self._look()
        return self._codes[0] if self._codes else None

    def _look(self) -> None:
        """What is found is noted before it goes away: who finds nothing any more comes second."""
        try:
            ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            self.forget()
            return
        if started(self.pid) not in (0, self._started):
            self.forget()
        elif ended:
            self._codes.append(ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status)
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG)
            self._gone = True
