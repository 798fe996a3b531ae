// SPDX-License-Identifier: Apache-2.0
/* How the boxes of a call tree are painted: by the kind of their function, with a pattern where the thread mostly
 * waited or collected garbage. */

import { Mostly, paintOfKind, paintsOfKinds, themeOf } from "../canvas/colours";
import type { Look } from "../canvas/flame";
import { fillsOfStates } from "../canvas/states";
import { flameTreeOf, type FlameTree } from "../canvas/tree";
import type { Tree } from "../model/tree";
import type { Shown } from "../state/derived";
import type { FlameText } from "./flameText";

interface Measured {
	readonly count: number;
	readonly total: Float64Array;
}

const laid = new WeakMap<Tree, FlameTree>();

/** Where the boxes of a tree lie; reckoned once for a tree. */
export function laidOut(tree: Tree): FlameTree {
	let found = laid.get(tree);
	if (!found) {
		found = flameTreeOf(tree);
		laid.set(tree, found);
	}
	return found;
}

/** How many nodes before each node match the search, or null if nothing is searched for. */
export function matchesBefore(tree: Tree, rows: Uint8Array | null): Uint32Array | null {
	return rows && countedBefore(tree, (node) => rows[tree.fn[node]]);
}

/** How many nodes before each node are of the function, or null if it is none. */
export function alikeBefore(tree: Tree, selected: number | null): Uint32Array | null {
	return selected === null ? null : countedBefore(tree, (node) => (tree.fn[node] === selected ? 1 : 0));
}

/** How many nodes with time count before each node, and all of them. */
export function countedBefore(tree: Measured, counts: (node: number) => number): Uint32Array {
	const before = new Uint32Array(tree.count + 1);
	let sum = 0;
	for (let node = 0; node < tree.count; node++) {
		if (tree.total[node] > 0) sum += counts(node);
		before[node + 1] = sum;
	}
	return before;
}

/** `ownTime`: the tree goes from callers to callees; in others what is left of a node is not its own time. */
export function lookOf(shown: Shown, tree: Tree, dark: boolean, text: FlameText, ownTime: boolean): Look {
	const { category } = shown.profile.functions;
	const states = shown.leafStates(tree);
	const [, wantsGil, waiting, gc] = states;
	const { total, fn } = tree;
	return {
		theme: themeOf(dark),
		paints: paintsOfKinds(shown.profile.meta.categories, dark),
		paint(node) {
			const half = total[node] / 2;
			const waited = waiting[node] + wantsGil[node] > half ? Mostly.waited : Mostly.ran;
			return paintOfKind(category[fn[node]], gc[node] > half ? Mostly.collected : waited);
		},
		label: text.label,
		shortLabel: text.shortLabel,
		own: ownTime ? { self: tree.self, states, fills: fillsOfStates(dark) } : null,
		matches: matchesBefore(tree, shown.search().rows),
	};
}
