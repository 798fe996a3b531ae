// SPDX-License-Identifier: Apache-2.0
/* How the boxes of a call tree are painted: by the kind of their function, or by what the thread did where that is
 * most of what the box stands for. */

import { COLLECTING, WAITING, paintsOfKinds, themeOf } from "../canvas/colours";
import type { Look } from "../canvas/flame";
import { rowsOf } from "../canvas/steps";
import { flameTreeOf, type FlameTree } from "../canvas/tree";
import type { Tree } from "../model/tree";
import type { Shown } from "../state/derived";
import type { FlameText } from "./flameText";

export interface Laid {
	flame: FlameTree;
	rows: number;
}

const laid = new WeakMap<Tree, Laid>();

/** Where the boxes of a tree lie; reckoned once for a tree. */
export function laidOut(tree: Tree): Laid {
	let found = laid.get(tree);
	if (!found) {
		const flame = flameTreeOf(tree);
		found = { flame, rows: rowsOf(flame) };
		laid.set(tree, found);
	}
	return found;
}

/** How many nodes before each node match the search, or null if nothing is searched for. */
export function matchesBefore(tree: Tree, rows: Uint8Array | null): Uint32Array | null {
	if (!rows) return null;
	const matches = new Uint32Array(tree.count + 1);
	let sum = 0;
	for (let node = 0; node < tree.count; node++) {
		if (tree.total[node] > 0) sum += rows[tree.fn[node]];
		matches[node + 1] = sum;
	}
	return matches;
}

/** `ownTime`: the tree goes from callers to callees; in others what is left of a node is not its own time. */
export function lookOf(shown: Shown, tree: Tree, dark: boolean, text: FlameText, ownTime: boolean): Look {
	const { category } = shown.profile.functions;
	const { waiting, gc } = shown.leafStates(tree);
	const { total, fn } = tree;
	return {
		theme: themeOf(dark),
		paints: paintsOfKinds(shown.profile.meta.categories, dark),
		paint(node) {
			const half = total[node] / 2;
			if (gc[node] > half) return COLLECTING;
			return waiting[node] > half ? WAITING : category[fn[node]];
		},
		label: text.label,
		shortLabel: text.shortLabel,
		own: ownTime ? { self: tree.self, waiting, collecting: gc } : null,
		matches: matchesBefore(tree, shown.search().rows),
	};
}
