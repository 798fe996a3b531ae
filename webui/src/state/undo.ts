// SPDX-License-Identifier: Apache-2.0
// What can be undone: everything that changes what is counted, and coming nearer. Where else one looks (view,
// selection) is left alone. Layer state; pure.
import type { State } from "./state";

const undoable = ["filter", "startup", "transforms", "by", "zoom", "seen"] as const;
type Undoable = Pick<State, (typeof undoable)[number]>;

export interface History {
	readonly past: readonly Undoable[];
	readonly now: State;
	readonly future: readonly Undoable[];
}

const maxPast = 200;

function part({ filter, startup, transforms, by, zoom, seen }: State): Undoable {
	return { filter, startup, transforms, by, zoom, seen };
}

function differs(a: State, b: State): boolean {
	return undoable.some((name) => a[name] !== b[name]);
}

export function startOf(state: State): History {
	return { past: [], now: state, future: [] };
}

export function remember(h: History, next: State): History {
	if (!differs(h.now, next)) return { ...h, now: next };
	return { past: [...h.past.slice(1 - maxPast), part(h.now)], now: next, future: [] };
}

export function undo(h: History): History {
	const last = h.past[h.past.length - 1];
	if (!last) return h;
	return { past: h.past.slice(0, -1), now: { ...h.now, ...last }, future: [part(h.now), ...h.future] };
}

export function redo(h: History): History {
	const [next, ...future] = h.future;
	if (!next) return h;
	return { past: [...h.past, part(h.now)], now: { ...h.now, ...next }, future };
}
