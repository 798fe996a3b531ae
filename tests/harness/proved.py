# SPDX-License-Identifier: Apache-2.0
"""How many samples of a program that changes its stack all the time were proved, where plumb stands beside its thread
(docs/design/009-standing-beside.md)."""
from harness.statistics import NotNow

FIRST = 16  # samples of a thread of which nothing is known yet: doubtful unless it is seen to move
# A thread that others keep from its processor between the two instructions that link a frame stays there, and cannot be proved: of
# generators 0.5 to 0.7 % of the samples, more than 1 % in every fifth trial, more than 5 % in 1 of 222 (two processors, three loops and a
# second trial beside them). Who does not stand beside has 20 % and more.
UNPROVED = 0.05
BLIND = 12  # trials, of up to four seconds: a machine that has no processor to give has none for a while


def seen_in_time(profile):
    """Stretches in which the machine let plumb see: it was there for half of the samples."""
    if profile.losses["missed"] > profile.samples:
        raise NotNow("%d samples came too late, %d did not" % (profile.losses["missed"], profile.samples))
    return profile


def unproved(profile):
    return max(0, profile.quality["doubtful"] - FIRST) + profile.quality["partial"]


def too_many(count, samples):
    """What a trial says is off."""
    return "%d of %d samples were not proved" % (count, samples) if count > UNPROVED * samples else ""
