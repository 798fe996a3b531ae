# SPDX-License-Identifier: Apache-2.0
"""What others leave of the processors."""
import os
import time


class Others:
    """From now on: whoever computes on this machine, but for this process and what it has waited for."""

    def __init__(self):
        self._begin, self._left = time.monotonic(), self._left_until_now()

    @staticmethod
    def _left_until_now():
        """Seconds in which a processor lay idle, which the kernel measures, or was ours. Who else had it is counted at ticks, too coarsely."""
        with open("/proc/stat", encoding="ascii") as stat:
            idle, waiting = map(int, stat.readline().split()[4:6])
        return (idle + waiting) / os.sysconf("SC_CLK_TCK") + sum(os.times()[:4])

    def leave(self, processors):
        """Whether there were so many for us at almost all times: a tenth of one is not missed."""
        left = (self._left_until_now() - self._left) / (time.monotonic() - self._begin)
        return left >= processors - 0.1
