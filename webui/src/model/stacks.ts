// SPDX-License-Identifier: Apache-2.0
// Stacks that are being transformed. Each step goes once over the nodes, callers first, and says of each node where its
// samples go: what is left is made a tree in the end (shape.ts). Layer model; no DOM.
import type { Profile } from "../data/profile";
import { type Steps, stride } from "../data/steps";
import { Startup } from "./startup";

export const dropped = -1;
export const frameless = -2;

/** Nodes by function, or by function and line; a caller has a smaller number than what it calls. */
export interface Stacks {
	readonly count: number;
	/** Of kept nodes: a kept node, or -1. */
	readonly parent: Int32Array;
	/** Rows of the function table. */
	readonly fn: Uint32Array;
	readonly line: Int32Array;
	/** Where the samples of a node go: itself (it is kept), another node with a smaller number, `dropped`, or
	 * `frameless` if none of their frames is left. */
	readonly to: Int32Array;
	/** L node of the profile -> node. */
	readonly ofPlace: Int32Array;
	/** Samples without any frame still count. */
	keepsFrameless: boolean;
}

/** Every node is kept. */
export function* stacksOf(profile: Profile, by: "function" | "line"): Steps<Stacks> {
	const { tree, locations } = profile;
	const common = { keepsFrameless: true };
	if (by === "function") {
		const { count, node } = tree;
		const line = new Int32Array(count);
		const to = line.map((_, i) => i);
		return { ...common, count, parent: tree.parent.slice(), fn: tree.fn.slice(), line, to, ofPlace: node };
	}
	const to = new Int32Array(tree.places);
	const line = new Int32Array(tree.places);
	const fn = new Uint32Array(tree.places);
	for (let l = 0; l < tree.places; l++) {
		if (l % stride === 0) yield;
		to[l] = l;
		line[l] = locations.line[tree.location[l]!]!;
		fn[l] = tree.fn[tree.node[l]!]!;
	}
	return { ...common, count: tree.places, parent: tree.caller.slice(), fn, line, to, ofPlace: to.slice() };
}

/** What a caller has become while a step goes over the nodes: a kept node, or -1 (there is none). */
function callerOf(s: Stacks, node: number): number {
	const up = s.parent[node]!;
	if (up < 0) return -1;
	const to = s.to[up]!;
	return to < 0 ? -1 : to;
}

/** Go over the kept nodes, callers first; `decide` gives what becomes of a node: itself, a node further out, `dropped`
 * or `frameless`. Nodes that were merged before follow the one they were merged into. `up`: the kept caller or -1. */
function* step(s: Stacks, decide: (node: number, up: number) => number): Steps<void> {
	for (let i = 0; i < s.count; i++) {
		if (i % stride === 0) yield;
		const to = s.to[i]!;
		if (to !== i) {
			if (to >= 0) s.to[i] = s.to[to]!;
			continue;
		}
		const up = callerOf(s, i);
		s.parent[i] = up;
		s.to[i] = decide(i, up);
	}
}

/** Frames for which it holds vanish; what they did counts for their callers. */
export function* hide(s: Stacks, hides: (fn: number) => boolean): Steps<void> {
	yield* step(s, (i, up) => (!hides(s.fn[i]!) ? i : up < 0 ? frameless : up));
}

/** Samples with such a frame are dropped. */
export function* drop(s: Stacks, drops: (fn: number) => boolean): Steps<void> {
	const gone = new Uint8Array(s.count);
	yield* step(s, (i, up) => {
		if (drops(s.fn[i]!) || (up >= 0 && gone[up])) gone[i] = 1;
		return i;
	});
	for (let i = 0; i < s.count; i++) {
		if (i % stride === 0) yield;
		if (s.to[i]! >= 0 && gone[s.to[i]!]) s.to[i] = dropped;
	}
}

/** Only samples that pass a node for which it holds: it becomes the root. */
export function* focus(s: Stacks, holds: (node: number, up: number) => boolean): Steps<void> {
	const inside = new Uint8Array(s.count);
	yield* step(s, (i, up) => {
		if (up >= 0 && inside[up]) inside[i] = 1;
		else if (holds(i, up)) {
			inside[i] = 1;
			s.parent[i] = -1;
		}
		return i;
	});
	for (let i = 0; i < s.count; i++) {
		if (i % stride === 0) yield;
		const to = s.to[i]!;
		if (to === frameless || (to >= 0 && !inside[to])) s.to[i] = dropped;
	}
	s.keepsFrameless = false;
}

/** The same by the way from the root: nodes with the functions (and lines) on the way to `node`. */
export function* focusPath(s: Stacks, node: number): Steps<void> {
	const path: number[] = [];
	for (let i = node; i >= 0; i = s.parent[i]!) path.push(i);
	path.reverse();
	const isAt = (i: number, depth: number) => s.fn[i] === s.fn[path[depth]!] && s.line[i] === s.line[path[depth]!];
	// How many nodes of the way lead to each node; 0: it is beside it.
	const along = new Int32Array(s.count);
	yield* focus(s, (i, up) => {
		const depth = up < 0 ? 0 : along[up]!;
		if ((up < 0 || depth > 0) && isAt(i, depth)) along[i] = depth + 1;
		return along[i] === path.length;
	});
}

/** Frames for which it holds become `row`; those that follow each other one. */
export function* collapse(s: Stacks, row: number, holds: (fn: number) => boolean): Steps<void> {
	yield* step(s, (i, up) => {
		if (!holds(s.fn[i]!)) return i;
		s.fn[i] = row;
		s.line[i] = 0;
		return up >= 0 && s.fn[up] === row ? up : i;
	});
}

/** All that a function calls counts as its own. */
export function* collapseBelow(s: Stacks, fn: number): Steps<void> {
	yield* step(s, (i, up) => (up >= 0 && s.fn[up] === fn ? up : i));
}

/** Frames of a function (-1: of any) that follow each other become one. */
export function* foldDirect(s: Stacks, fn: number): Steps<void> {
	yield* step(s, (i, up) => (up >= 0 && s.fn[up] === s.fn[i] && (fn < 0 || s.fn[i] === fn) ? up : i));
}

/** Frames of a function below one of itself become that; so what it called hangs on it. */
export function* foldRecursion(s: Stacks, fn: number): Steps<void> {
	const outermost = new Int32Array(s.count).fill(-1);
	yield* step(s, (i, up) => {
		const above = up < 0 ? -1 : outermost[up]!;
		outermost[i] = above >= 0 || s.fn[i] !== fn ? above : i;
		return above >= 0 && s.fn[i] === fn ? above : i;
	});
}

/** Nodes of these kinds that are gates, and all that lead to them. */
function* gates(s: Stacks, kinds: Uint8Array): Steps<Uint8Array> {
	const found = new Uint8Array(s.count);
	for (let i = s.count - 1; i >= 0; i--) {
		if (i % stride === 0) yield;
		if (kinds[s.fn[i]!] === Startup.gate) found[i] = 1;
		const up = s.parent[i]!;
		if (found[i] && up >= 0) found[up] = 1;
	}
	return found;
}

/** By node: the innermost of the labels that it is in; -1: none. Labels stand outermost. */
function* labelsAbove(s: Stacks, kinds: Uint8Array): Steps<Int32Array> {
	const found = new Int32Array(s.count).fill(-1);
	for (let i = 0; i < s.count; i++) {
		if (i % stride === 0) yield;
		const up = s.parent[i]!;
		if (kinds[s.fn[i]!] === Startup.label && (up < 0 || found[up] === up)) found[i] = i;
		else if (up >= 0) found[i] = found[up]!;
	}
	return found;
}

/** What frames of these kinds (`Startup`) called is hung on their callers. They keep their own samples: no time is told
 * of a function that did not use it. To be done first, when all nodes are kept. Returns which functions were folded. */
export function* fold(s: Stacks, kinds: Uint8Array): Steps<number[]> {
	const below = new Int32Array(s.count);
	const folded = yield* gates(s, kinds);
	const labels = yield* labelsAbove(s, kinds);
	const functions = new Set<number>();
	for (let i = 0; i < s.count; i++) {
		if (i % stride === 0) yield;
		const up = s.parent[i]!;
		const kind = kinds[s.fn[i]!]!;
		const outermost = up < 0 || folded[up] === 1;
		if (up >= 0 && folded[up]) functions.add(s.fn[up]!);
		s.parent[i] = up < 0 ? -1 : below[up]!;
		if (kind === Startup.anywhere || (kind === Startup.outermost && outermost)) folded[i] = 1;
		below[i] = folded[i] ? s.parent[i]! : i;
		if (kind !== Startup.fork) continue;
		folded[i] = 1;
		for (let at = i; at >= 0 && at !== labels[i]; at = s.parent[at]!) functions.add(s.fn[at]!);
		below[i] = labels[i]!;
	}
	return [...functions];
}
