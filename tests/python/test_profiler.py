# SPDX-License-Identifier: Apache-2.0
"""plumb.Profiler: control of a long-lived session, on every interpreter."""
import json

import pytest

from harness import package
from harness.statistics import NotNow, holds


def checked(python, script):
    """Its checks, with all of what Python warns of as an error."""
    assert json.loads(package.run(python, script, options=["-X", "dev", "-W", "error"]))["checks"]


@pytest.mark.once
def test_a_profiler_is_controlled_and_asked(some):
    checked(some, "profiler_checks.py")


@pytest.mark.once
def test_a_signal_handler_may_do_anything_with_it_anywhere(some):
    """At each instruction of the same functions: what differs is how a release compiles them."""
    checked(some, "profiler_signal_checks.py")


@pytest.mark.once
def test_what_samples_from_outside_is_controlled_alike(one):
    """What can differ between interpreters is how they are sampled from outside, and that has tests of its own."""
    if one.root:
        pytest.skip("the program that samples from outside is not there in %s" % one)
    checked(one, "profiler_outside_checks.py")


TITLE = "plumb.Profiler"
# Other programs keep a thread from the processor for so long, on a busy machine, now and then; a right profiler, too.
BY_CHANCE, MOST = 0.2, 18


def test_cancel_takes_no_time_in_any_state(one):
    """As it would if it waited for the next tick, which may be nine seconds away."""
    with package.measuring(one, "profiler_measures.py", "cancel") as ask:

        def off():
            taken = ask()
            plain = taken.pop("a thread")
            if plain > 0.02:
                raise NotNow("a thread that does nothing takes %.3f s" % plain)
            return max(taken.values()) > 0.1 and str(taken)

        holds(off, BY_CHANCE, MOST)


def test_nothing_wakes_up_while_it_is_paused(one):
    with package.measuring(one, "profiler_measures.py", "paused") as ask:
        assert ask() > 0


def test_the_interval_holds_from_when_it_is_set(one):
    """Ticks come as asked; those for which a busy machine woke the sampler too late are told as missed, as soon as it is awake."""
    with package.measuring(one, "profiler_measures.py", "intervals") as ask:

        def off():
            found = ask()
            return any(abs(more) > 3 for more in found.values()) and "ticks more than are due: %s" % found

        holds(off, BY_CHANCE, MOST)


def test_no_thread_stalls_while_ten_ask_for_the_status(one, table):
    with package.measuring(one, "profiler_measures.py", "stalls") as ask:

        def off():
            asked, alone = ask()
            table("latest wake-up of a thread", str(one), "%.3f s, %.3f s without" % (asked, alone), title=TITLE)
            if alone > 0.05:
                raise NotNow("it is late by %.3f s although nobody asks" % alone)
            return asked > alone + 0.05 and "late by %.3f s, and by %.3f s if nobody asks" % (asked, alone)

        holds(off, BY_CHANCE, MOST)
