// SPDX-License-Identifier: Apache-2.0
/* The part of an axis that is seen, and how it moves. Pure. */

import type { FlameTree } from "./tree";

export interface Range {
	from: number;
	to: number;
}

/** From and to, as shares of the axis. */
export type Shares = readonly [number, number];

export function rangeOfShares(tree: FlameTree, [from, to]: Shares): Range {
	return within({ from: from * tree.sum, to: to * tree.sum }, tree.sum);
}

export function sharesOfRange(tree: FlameTree, { from, to }: Range): Shares {
	return [from / tree.sum, to / tree.sum];
}

export function wholeOf(tree: FlameTree): Range {
	return { from: 0, to: tree.sum };
}

export function rangeOfNode(tree: FlameTree, node: number): Range {
	const from = tree.start[node];
	return { from, to: from + tree.total[node] };
}

/** Between the left end of one node and the right end of another. */
export function rangeBetween(tree: FlameTree, first: number, last: number): Range {
	return { from: tree.start[first], to: tree.start[last] + tree.total[last] };
}

/** Zooming stops where numbers get too coarse to tell ends apart. */
const SMALLEST_SHARE = 1e-9;

/** The same length as near as possible, within the axis. */
export function within(range: Range, length: number): Range {
	const span = Math.min(length, Math.max(range.to - range.from, length * SMALLEST_SHARE));
	const from = Math.min(Math.max(0, range.from), length - span);
	return { from, to: from + span };
}

/** A factor below 1 comes nearer; what lies at this share of the range stays where it is. */
export function zoomed(range: Range, factor: number, at: number, length: number): Range {
	const span = (range.to - range.from) * factor;
	const from = range.from + (range.to - range.from - span) * at;
	return within({ from, to: from + span }, length);
}

export function shifted(range: Range, share: number, length: number): Range {
	const by = (range.to - range.from) * share;
	return within({ from: range.from + by, to: range.to + by }, length);
}

export function isWhole(range: Range, length: number): boolean {
	return range.from <= 0 && range.to >= length;
}
