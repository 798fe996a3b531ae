# SPDX-License-Identifier: Apache-2.0
"""Where this Python keeps the variables of a thread's context: found out in the process itself, and proved before it is used.

A thread state points to the context that its thread is in, the context to its variables, a hash array mapped trie of nodes of
three types. What an object refers to the collector tells, and where in the object that word is, its memory.
"""
from __future__ import annotations

import gc
from contextvars import Context, ContextVar, copy_context
from typing import Any, Callable, Iterator, List, Optional, Set

from plumb._plumb import Tag, find_tag, own_memory, set_tag_place, thread_state, use_tag_place

_THREAD_STATE_BYTES = 1024  # the context's place is at 208 to 240 in 3.8 to 3.15
_MANY = 100  # variables: the trie's root is an array from 17 different beginnings of hashes on
_PROOFS = (0, 1, 2, 10, 40, 500)  # other variables in the contexts that are looked into


class Unknown(Exception):
    """This Python is laid out otherwise."""


def _offsets(address: int, size: int, word: int) -> Set[int]:
    """Where the word is in the memory there."""
    memory = own_memory(address, size)
    return {at for at in range(0, len(memory) - 7, 8) if int.from_bytes(memory[at : at + 8], "little") == word}


def _only(found: Set[int], what: str) -> int:
    if len(found) != 1:
        raise Unknown("%s is found at %d places" % (what, len(found)))
    return found.pop()


def _offset(holder: Any, held: Any) -> int:
    return _only(_offsets(id(holder), type(holder).__basicsize__, id(held)), "%s of %s" % (type(held).__name__, type(holder).__name__))


def _context_offset() -> int:
    """Of the current context in a thread state: what is true in each of some contexts."""

    def within(context: Context) -> Set[int]:
        return _offsets(thread_state(), _THREAD_STATE_BYTES, id(context))

    found = [context.run(within, context) for context in [Context() for _ in range(3)]]
    return _only(set.intersection(*found), "the context of a thread")


def _variables(context: Context) -> Any:
    """The trie of a context."""
    for held in gc.get_referents(context):
        if type(held).__name__ == "hamt":
            return held
    raise Unknown("there is no trie in a context")


def _root(variables: Any) -> Any:
    held = gc.get_referents(variables)
    if len(held) != 1:
        raise Unknown("a trie refers to %d objects" % len(held))
    return held[0]


def _with_variables(count: int) -> Context:
    """A context with so many variables of others."""
    context = Context()
    for i in range(count):
        # Addresses alone may be too much alike, and hashes are made of them and of the names.
        other: ContextVar[None] = ContextVar("plumb.other%d" % i)
        context.run(other.set, None)
    return context


def _node_type(context: Context, name: str) -> int:
    """Address of the type of the first node of that name, from the root down."""
    nodes: List[Any] = [_root(_variables(context))]
    while nodes:
        node = nodes.pop()
        if type(node).__name__ == name:
            return id(type(node))
        nodes += [held for held in gc.get_referents(node) if type(held).__name__.startswith("hamt_")]
    raise Unknown("there is no " + name)


class _Name(str):
    """A name with the hash it is given."""

    wanted = 0

    def __hash__(self) -> int:
        return self.wanted


def colliding(var: ContextVar[Any]) -> Optional[ContextVar[Any]]:
    """A variable with the hash of another; None if none comes about.

    The hash is made of the variable's address and its name's hash. A variable takes, as a rule, the place of one that was just
    freed or, in free-threaded Pythons, the place that comes next: then the address is known before it is made.
    """
    kept: List[ContextVar[Any]] = []  # free places that come in no order are used up
    for attempt in range(1000):
        name = _Name("plumb.colliding")
        kept += ContextVar(name), ContextVar(name)
        address = 2 * id(kept[-1]) - id(kept[-2])
        if attempt % 2:
            address = id(kept[-1])
            kept.pop()
        name.wanted = address >> 4 ^ hash(var)
        other: ContextVar[Any] = ContextVar(name)
        if hash(other) == hash(var):
            return other
    return None


def _look(var: ContextVar[Any], value: Callable[[int], Tag]) -> None:
    """Find all of it and let find_tag() look there."""
    one, two, set_value = Context(), Context(), value(2)
    one.run(var.set, set_value)
    trie = _variables(one)
    collision, other = 0, colliding(var)
    if other is not None:
        two.run(var.set, None)
        two.run(other.set, None)
        collision = _node_type(two, "hamt_collision_node")
    set_tag_place(
        var=var,
        value_type=type(set_value),
        bitmap_type=_node_type(one, "hamt_bitmap_node"),
        array_type=_node_type(_with_variables(_MANY), "hamt_array_node"),
        collision_type=collision,
        context=_context_offset(),
        vars=_offset(one, trie),
        root=_offset(trie, _root(trie)),
        type=_only(_offsets(id(trie), object.__basicsize__, id(type(trie))), "the type of an object"),
    )


def _contexts(var: ContextVar[Any]) -> Iterator[Context]:
    """Contexts of all kinds in which the variable is not set."""
    for count in _PROOFS:
        yield _with_variables(count)
    yield _with_variables(_MANY).run(copy_context)
    other = colliding(var)
    if other is not None:
        context = Context()
        context.run(other.set, None)
        yield context


def _prove(var: ContextVar[Any], value: Callable[[int], Tag]) -> None:
    """What is set is found, whatever else there is, and nothing where nothing is set. A signal handler that comes meanwhile can copy
    these contexts: in its copies nothing is found afterwards."""

    def found() -> int:
        return find_tag(thread_state())

    for number, context in enumerate(_contexts(var), 2):
        seen, set_value = [context.run(found)], value(number)
        context.run(var.set, set_value)
        copied = context.copy()
        try:
            seen += [context.run(found), copied.run(found)]
            context.run(var.set, None)
            seen += [context.run(found), copied.run(found)]
        finally:
            set_value.set_id(0)
        if seen != [0, number, number, 0, number]:
            raise Unknown("%s instead of tag %d" % (seen, number))


def find(var: ContextVar[Any], value: Callable[[int], Tag]) -> str:
    """Let sessions find what is set in the variable, which value() makes of a number. Why that is not possible; "" if it is. What is
    raised in the middle, as by a signal handler, leaves nothing behind that another call could not do again."""
    try:
        _look(var, value)
        _prove(var, value)
    except (Unknown, RuntimeError, OSError, ValueError) as why:
        return str(why)
    use_tag_place()
    return ""
