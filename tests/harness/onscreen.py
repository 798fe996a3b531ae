# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them: which values a text on the screen can stand for."""
import re

_SCALE = {"": 1, "%": 0.01, "ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}


def _plain(text):
    """(value, half a unit of its last digit)"""
    digits = text.replace(",", "")
    return float(digits), 0.5 * 10.0 ** -len(digits.partition(".")[2])


def says(text, value):
    """Whether a text such as "1,234", "52 %", "<0.01 %", "1.2 s" or "2m05s" is what this value rounds to. Times are ns."""
    text = text.strip()
    small = re.fullmatch(r"<([\d.]+) %", text)
    if small:
        return 0 < value < float(small[1]) / 100
    long = re.fullmatch(r"(\d+)(h|m)(\d\d)(m|s)", text)
    if long:
        last = _SCALE[long[4]]
        return abs(int(long[1]) * _SCALE[long[2]] + int(long[3]) * last - value) <= last * 0.501
    plain = re.fullmatch(r"([\d,]+(?:\.\d+)?) ?(%|ns|us|µs|ms|s|)", text)
    assert plain, "%r is no number" % text
    shown, half = _plain(plain[1])
    scale = _SCALE[plain[2]]
    return abs(shown * scale - value) <= half * scale * 1.001 + 1e-12


def says_interval(text, value, half_width):
    """The same of "52 % ±1.1"; half widths are rounded up."""
    first, _, second = text.partition("±")
    shown, half = _plain(second.strip())
    return says(first, value) and -1e-9 <= shown / 100 - half_width <= 2 * half / 100 + 1e-9


def count(text):
    """The number of a text such as "1,234 samples"."""
    return int(re.search(r"\d[\d,]*", text)[0].replace(",", ""))
