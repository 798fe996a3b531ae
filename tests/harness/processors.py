# SPDX-License-Identifier: Apache-2.0
"""What others take of the processors."""
import os
import time


class Others:
    """Whoever computes on this machine from now on, but for this process and what it has waited for."""

    def __init__(self):
        self._time, self._used = time.monotonic(), self._used_until_now()

    @staticmethod
    def _used_until_now():
        with open("/proc/stat", encoding="ascii") as stat:
            user, nice, system, _idle, _iowait, interrupts, softly = map(int, stat.readline().split()[1:8])
        return (user + nice + system + interrupts + softly) / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])

    @property
    def processors(self):
        """So many they used, of all the time."""
        return (self._used_until_now() - self._used) / (time.monotonic() - self._time)

    def leave(self, processors):
        """Whether there were so many for us at almost all times: a tenth of one is not missed."""
        return self.processors <= os.cpu_count() - processors + 0.1
