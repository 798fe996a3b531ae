// SPDX-License-Identifier: Apache-2.0
/* The heaviest way through a call tree, told by the few functions on it that say most. */

import type { FunctionTable } from "../data/profile";
import type { Tree } from "../model/tree";

/** Below this share a branch is no answer to where the time went. */
const LEAST = 0.05;
/** Who hands on all but this share of what it has is passed over. */
const HANDS_ON = 0.02;
/** What code of the program counts for more than that of a library. */
const OWN_CODE_BONUS = 0.05;

interface Step {
	readonly node: number;
	/** The share that does not go on along the path; at its end all of it. */
	readonly kept: number;
	readonly worth: number;
}

function steps(tree: Tree, path: readonly number[], isOwn: (fn: number) => boolean): Step[] {
	return path.map((node, i) => {
		const next = i + 1 < path.length ? tree.total[path[i + 1]] : 0;
		const kept = (tree.total[node] - next) / tree.whole;
		return { node, kept, worth: kept + (isOwn(tree.fn[node]) ? OWN_CODE_BONUS : 0) };
	});
}

/** At most `most` nodes of the path, callers first. It begins where the code of the program does. */
export function hotPath(tree: Tree, path: readonly number[], functions: FunctionTable, most: number): number[] {
	if (tree.whole <= 0) return [];
	const heavy = path.filter((node) => tree.total[node] >= LEAST * tree.whole);
	const isOwn = (fn: number): boolean => fn < functions.count && functions.category[fn] === 1;
	const first = heavy.find((node) => isOwn(tree.fn[node])) ?? heavy[0];
	const best = steps(tree, heavy, isOwn)
		.filter((step) => step.kept >= HANDS_ON && step.node !== first)
		.sort((a, b) => b.worth - a.worth)
		.slice(0, most - 1)
		.map((step) => step.node);
	return heavy.filter((node) => node === first || best.includes(node));
}
