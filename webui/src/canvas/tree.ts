// SPDX-License-Identifier: Apache-2.0
/* What a flame graph is drawn of: any tree in preorder. Children lie below their caller side by side from its left
 * end; what is left at its right end is the time of the caller itself. */

import { offsets } from "../model/tree";

export interface FlameTree {
	readonly count: number;
	readonly depth: Int32Array;
	/** Index behind the last node of the subtree. */
	readonly end: Int32Array;
	/** -1 at roots. */
	readonly parent: Int32Array;
	/** Left end, in the unit of total. */
	readonly start: Float64Array;
	readonly total: Float64Array;
	/** How much all roots are together. */
	readonly sum: number;
}

interface Measured {
	readonly count: number;
	readonly depth: Int32Array;
	readonly end: Int32Array;
	readonly parent: Int32Array;
	readonly total: Float64Array;
}

/** Lays the nodes side by side. */
export function flameTreeOf({ count, depth, end, parent, total }: Measured): FlameTree {
	let sum = 0;
	for (let root = 0; root < count; root = end[root]) sum += total[root];
	return { count, depth, end, parent, total, start: offsets(parent, total), sum };
}

/** The part of the axis that is seen, and where. Lengths in CSS pixels. */
export interface View {
	from: number;
	to: number;
	width: number;
	firstRow: number;
	lastRow: number;
}
