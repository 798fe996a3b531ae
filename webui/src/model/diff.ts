// SPDX-License-Identifier: Apache-2.0
// The call tree of a comparison. Its rows are those of `plumb diff --paths`, which has found what is the same on both
// sides and judged what changed: here they are only put in order. Layer model; pure.
import type { DiffReport } from "../data/profile";

/** Nodes in preorder, siblings heaviest first. */
export interface DiffTree {
	readonly count: number;
	readonly parent: Int32Array;
	readonly depth: Int32Array;
	readonly end: Int32Array;
	/** What boxes are as wide as. */
	readonly total: Float64Array;
	/** Index into the report's list. */
	readonly row: Int32Array;
}

/** For each row: its share after. */
export function weightsAfter(report: DiffReport): Float64Array {
	return Float64Array.from(report.list, (row) => row.total.after);
}

/** For each row: the mean of both shares, so that what is gone has a place, too. */
export function weightsOfBoth(report: DiffReport): Float64Array {
	return Float64Array.from(report.list, (row) => (row.total.before + row.total.after) / 2);
}

/** Callees of each row, chained: the first of each, the next of the same caller; index `rows` stands for the roots. */
interface Chains {
	first: Int32Array;
	next: Int32Array;
}

/** The chains of rows that weigh something, heaviest first. */
function chainsOf(report: DiffReport, weights: Float64Array): Chains {
	const { list } = report;
	const first = new Int32Array(list.length + 1).fill(-1);
	const next = new Int32Array(list.length).fill(-1);
	const lightestFirst = Uint32Array.from(list, (_, row) => row)
		.filter((row) => weights[row] > 0)
		.sort((a, b) => weights[a] - weights[b] || b - a);
	for (const row of lightestFirst) {
		const above = list[row].caller ?? list.length;
		next[row] = first[above];
		first[above] = row;
	}
	return { first, next };
}

/** The tree of the rows that weigh something. */
export function diffTree(report: DiffReport, weights: Float64Array): DiffTree {
	const { first, next } = chainsOf(report, weights);
	const count = weights.reduce((sum, weight) => sum + (weight > 0 ? 1 : 0), 0);
	const parent = new Int32Array(count);
	const depth = new Int32Array(count);
	const end = new Int32Array(count);
	const row = new Int32Array(count);
	let made = 0;
	let above = -1;
	let at = first[report.list.length];
	for (;;) {
		if (at >= 0) {
			parent[made] = above;
			depth[made] = above < 0 ? 0 : depth[above] + 1;
			row[made] = at;
			above = made++;
			at = first[at];
		} else {
			if (above < 0) break;
			end[above] = made;
			at = next[row[above]];
			above = parent[above];
		}
	}
	return { count: made, parent, depth, end, row, total: Float64Array.from(row, (from) => weights[from]) };
}

/** For each row: what of its share before lies in paths that have none after. */
export function weightsGone(report: DiffReport): Float64Array {
	const { list } = report;
	const tree = diffTree(report, weightsOfBoth(report));
	const gone = new Float64Array(list.length);
	for (let node = tree.count - 1; node >= 0; node--) {
		const row = tree.row[node];
		const above = tree.parent[node] < 0 ? -1 : tree.row[tree.parent[node]];
		if (list[row].total.after === 0) gone[row] = list[row].total.before;
		if (above >= 0 && list[above].total.after > 0) gone[above] += gone[row];
	}
	return gone;
}
