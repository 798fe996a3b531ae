# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests and the benchmarks share: interpreters, targets, the plumb runner, call graphs, statistics."""
