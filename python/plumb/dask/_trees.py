# SPDX-License-Identifier: Apache-2.0
"""A profile of a worker's process as what Dask's profiles are made of: a tree for each kind of task."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Tuple

from plumb._plumb import Profile
from plumb._session import Tree
from plumb._trees import create, merge
from plumb._tags import labels_of

Kind = Tuple[str, str]  # worker, and the prefix of the keys of such tasks

# Dask's profiles begin below the innermost frame of its worker. These of its functions prepare what a thread is to do, and hand it
# over; below the second one are also the coroutines among an actor's methods.
_WORKER, _OF_TASKS, _OF_ACTORS = "distributed/worker.py", "execute", "actor_execute"
_HANDS_OVER, _ITS_FILES = "run_in_executor", ("tornado/platform/asyncio.py", "asyncio/base_events.py")


def by_kind(profile: Profile) -> Dict[Kind, Tree]:
    """What tasks have done, of a profile with the tags of `_labels`. What is no task's is left out."""
    found: Dict[Kind, List[Tree]] = {}
    for node in profile.tree()["children"].values():
        labels = _labels_of(node)
        if labels:
            found.setdefault((labels["worker"], labels["task"]), []).extend(_below_the_worker(node))
    return {kind: merge(*map(_rooted, parts)) for kind, parts in found.items() if parts}


def _labels_of(node: Tree) -> Optional[Dict[str, str]]:
    labels = labels_of(node["description"]["name"]) if node["description"]["filename"] == "~" else {}
    return labels if {"worker", "task"} <= set(labels) else None


def _rooted(node: Tree) -> Tree:
    return {**create(), "count": node["count"], "children": {node["identifier"]: node}}


def _is_worker(node: Tree) -> bool:
    return node["description"]["filename"].endswith(_WORKER)


def _hands_over(node: Tree) -> bool:
    described = node["description"]
    return described["name"] == _HANDS_OVER and described["filename"].endswith(_ITS_FILES)


def _below_the_worker(top: Tree) -> Iterator[Tree]:
    """The parts of a tree that are below the innermost frame of the worker on their stack, or that frame itself where a stack ends with it.
    They are made of the nodes of the tree."""
    nodes, own = [(top, top)], []  # each after its parent, which comes with it
    for node, _ in nodes:
        nodes.extend((child, node) for child in node["children"].values())
        own.append(node["count"] - sum(child["count"] for child in node["children"].values()))
    for (node, parent), count in zip(reversed(nodes), reversed(own)):  # each before its parent
        kept = {key: child for key, child in node["children"].items() if child["count"]}
        if node is top or _is_worker(node):
            name = node["description"]["name"]
            if node is top or name != _OF_TASKS:
                yield from (child for child in kept.values() if not _hands_over(child))
            if node is not top and count and name not in (_OF_TASKS, _OF_ACTORS):
                yield {**node, "count": count, "children": {}}
            node["count"] = 0
        else:
            node["children"], node["count"] = kept, count + sum(child["count"] for child in kept.values())
