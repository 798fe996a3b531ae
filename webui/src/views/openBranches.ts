// SPDX-License-Identifier: Apache-2.0
/* Which branches of a call tree are open, and so which rows it has. No recursion: stacks can be 100,000 deep. */

import { heaviestPath, nodeAt, pathOf, placeOf, type Tree } from "../model/tree";

/** Lighter parts of the heaviest path are not opened by themselves, nor are more of it than a person wants to see. */
const HOT = 0.03;
const MOST_HOT = 60;

export interface Branches {
	readonly tree: Tree;
	readonly inverted: boolean;
	/** 1: the node's children are shown. */
	readonly open: Uint8Array;
}

/** The heaviest path is open at first. */
export function firstBranches(tree: Tree, inverted: boolean): Branches {
	const open = new Uint8Array(tree.count);
	for (const node of heaviestPath(tree).slice(0, MOST_HOT)) {
		if (tree.total[node] >= HOT * tree.whole) open[node] = 1;
	}
	return { tree, inverted, open };
}

/** The same branches in a tree that was made anew. */
export function carriedBranches(before: Branches, tree: Tree, inverted: boolean): Branches {
	if (before.inverted !== inverted) return firstBranches(tree, inverted);
	if (before.tree.nodeOf === tree.nodeOf) return { ...before, tree };
	const open = new Uint8Array(tree.count);
	for (let node = 0; node < before.tree.count; node++) {
		const now = before.open[node] ? nodeAt(tree, placeOf(before.tree, node)) : -1;
		if (now >= 0) open[now] = 1;
	}
	return open.includes(1) ? { tree, inverted, open } : firstBranches(tree, inverted);
}

/** Children that count, heaviest first: after a filter they are no longer in that order in the tree. */
function children(tree: Tree, node: number): number[] {
	const found: number[] = [];
	const last = node < 0 ? tree.count : tree.end[node];
	for (let child = node + 1; child < last; child = tree.end[child]) {
		if (tree.total[child] > 0) found.push(child);
	}
	return found.sort((a, b) => tree.total[b] - tree.total[a] || a - b);
}

export function hasChildren(tree: Tree, node: number): boolean {
	for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
		if (tree.total[child] > 0) return true;
	}
	return false;
}

/** The rows, from top to bottom. */
export function openRows({ tree, open }: Branches): number[] {
	const rows: number[] = [];
	const next = children(tree, -1).reverse();
	for (let node = next.pop(); node !== undefined; node = next.pop()) {
		rows.push(node);
		if (!open[node]) continue;
		const below = children(tree, node);
		for (let i = below.length - 1; i >= 0; i--) next.push(below[i]);
	}
	return rows;
}

export function withOpen(branches: Branches, nodes: Iterable<number>, value: 0 | 1): Branches {
	const open = branches.open.slice();
	for (const node of nodes) open[node] = value;
	return { ...branches, open };
}

/** The node's callers are open, so that it has a row. */
export function shown(branches: Branches, node: number): Branches {
	const above = pathOf(branches.tree, node).filter((one) => one !== node);
	return above.every((one) => branches.open[one]) ? branches : withOpen(branches, above, 1);
}

/** More matches than that are not opened. */
const MOST_FOUND = 100;

/** The callers of what was found are open, of the heaviest matches that lie in no other match. */
export function withFound(branches: Branches, found: Uint8Array): Branches {
	const { tree } = branches;
	const matches: number[] = [];
	for (let node = 0; node < tree.count; ) {
		const is = found[tree.fn[node]] === 1 && tree.total[node] > 0;
		if (is) matches.push(node);
		node = is ? tree.end[node] : node + 1;
	}
	matches.sort((a, b) => tree.total[b] - tree.total[a] || a - b);
	const above = matches.slice(0, MOST_FOUND).flatMap((node) => pathOf(tree, node).slice(0, -1));
	return above.every((node) => branches.open[node]) ? branches : withOpen(branches, above, 1);
}

/** All of the subtree, unless that is more than anybody reads. */
export function withSubtreeOpen(branches: Branches, node: number, most: number): Branches {
	const last = Math.min(branches.tree.end[node], node + most);
	const open = branches.open.slice();
	open.fill(1, node, last);
	return { ...branches, open };
}
