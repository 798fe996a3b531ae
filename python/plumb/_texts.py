# SPDX-License-Identifier: Apache-2.0
"""Texts that a program gives: names and values of labels and events."""
from __future__ import annotations

KEY_LENGTH, VALUE_LENGTH = 40, 100


def cut(text: str, length: int) -> str:
    """One line, not longer than that."""
    if len(text) > length:
        text = text[: length - 1] + "\u2026"
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)
