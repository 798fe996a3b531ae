# SPDX-License-Identifier: Apache-2.0
"""What scripts cannot do beside AddressSanitizer."""
import os

SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")
# Its allocator does not come through a fork while another thread allocates: the child waits for ever.
MAY_FORK = not SANITIZED
