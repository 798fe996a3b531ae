// SPDX-License-Identifier: Apache-2.0
/* From one box to another by keyboard. Each returns the same node if there is none in that direction. Nodes that
 * take no time (a filter left them empty) are stepped over. */

import type { FlameTree } from "./tree";

export function caller(tree: FlameTree, node: number): number {
	const parent = tree.parent[node];
	return parent < 0 ? node : parent;
}

/** The callee that takes most. */
export function heaviestCallee(tree: FlameTree, node: number): number {
	let best = node;
	let most = 0;
	for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
		if (tree.total[child] > most) {
			most = tree.total[child];
			best = child;
		}
	}
	return best;
}

export function nextInRow(tree: FlameTree, node: number): number {
	const row = tree.depth[node];
	for (let i = tree.end[node]; i < tree.count;) {
		if (tree.depth[i] === row && tree.total[i] > 0) return i;
		i = tree.depth[i] < row && tree.total[i] > 0 ? i + 1 : tree.end[i];
	}
	return node;
}

export function previousInRow(tree: FlameTree, node: number): number {
	const row = tree.depth[node];
	for (let i = node - 1; i >= 0; i--) {
		if (tree.depth[i] === row && tree.total[i] > 0) return i;
	}
	return node;
}

export function heaviestRoot(tree: FlameTree): number {
	let best = -1;
	let most = 0;
	for (let root = 0; root < tree.count; root = tree.end[root]) {
		if (tree.total[root] > most) {
			most = tree.total[root];
			best = root;
		}
	}
	return best;
}

export function isWithin(tree: FlameTree, node: number, ancestor: number): boolean {
	return node >= ancestor && node < tree.end[ancestor];
}

const known = new WeakMap<FlameTree, number>();

/** Rows that the tree needs; counted once for a tree. */
export function rowsOf(tree: FlameTree): number {
	let rows = known.get(tree);
	if (rows === undefined) {
		rows = 0;
		for (let i = 0; i < tree.count; i++) {
			if (tree.depth[i] >= rows && tree.total[i] > 0) rows = tree.depth[i] + 1;
		}
		known.set(tree, rows);
	}
	return rows;
}
