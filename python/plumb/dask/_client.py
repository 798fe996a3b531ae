# SPDX-License-Identifier: Apache-2.0
"""Which client a call takes."""
from __future__ import annotations

from typing import Any

import distributed


def checked_client(client: Any, instead: str) -> Any:
    """`instead`: what is said of one that is asynchronous."""
    if not isinstance(client, distributed.Client):
        raise TypeError("client is a distributed.Client, not %r" % (client,))
    if client.asynchronous:
        raise TypeError("client is one that is not asynchronous: %s" % instead)
    return client
