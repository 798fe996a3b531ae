# SPDX-License-Identifier: Apache-2.0
"""Going through trees, whatever their depth."""
import collections


def nodes(tree):
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node["children"].values())


def by_tag(tree):
    """{tag: {function: samples}}; those without a tag are under ""."""
    found, waiting = collections.defaultdict(collections.Counter), [(tree, "")]
    while waiting:
        node, tag = waiting.pop()
        for child in node["children"].values():
            name = child["description"]["name"]
            its = name if name.startswith("[") else tag
            if name != its:
                found[its][name] += child["count"]
            waiting.append((child, its))
    return found
