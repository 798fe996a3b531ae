// SPDX-License-Identifier: Apache-2.0
// The stacks of one thread in the order of time, as boxes: a stack chart. Time is cut into columns; in each the stacks
// that were sampled stand side by side, and a function that goes on into the next column is one box. Layer model; pure.
import { endsOf } from "../data/preorder";
import type { Profile } from "../data/profile";
import type { Steps } from "../data/steps";
import type { Sieve } from "./filter";
import type { Moments } from "./moments";
import { stripColumns, tickNs } from "./strip";
import type { Shape } from "./tree";

/** Nodes in preorder, as in a tree, but placed by time. */
export interface Chart {
	readonly count: number;
	readonly parent: Int32Array;
	readonly depth: Int32Array;
	readonly end: Int32Array;
	/** Nanoseconds since the beginning of what is shown. */
	readonly start: Float64Array;
	readonly total: Float64Array;
	readonly sum: number;
	/** Node of the shape, or `missed`. */
	readonly node: Int32Array;
	/** How long a column is: what happened within one has no order. */
	readonly columnNs: number;
}

/** Here the thread was not sampled, though it was there. */
export const missed = -1;

const mostColumns = 1200;
/** So many are gone over without a break. */
const fewColumns = 16;
/** A column has so many samples at least, or single ticks would look like gaps. */
const leastTicks = 3;
/** Less of a column is no box of its own, but time of its caller. */
const smallest = 1 / 24;

interface Boxes {
	readonly parent: number[];
	readonly depth: number[];
	readonly start: number[];
	readonly total: number[];
	readonly node: number[];
	/** By depth the last box, which may go on. */
	readonly open: number[];
}

/** A box from one instant to another; if one of the same node ends where it begins, that one becomes longer. */
function put(boxes: Boxes, depth: number, node: number, from: number, to: number): void {
	const last = boxes.open[depth];
	const tolerance = (to - from) * 1e-6;
	const goesOn = last !== undefined && boxes.node[last] === node;
	if (goesOn && from - (boxes.start[last]! + boxes.total[last]!) <= tolerance) {
		boxes.total[last] = to - boxes.start[last]!;
		return;
	}
	boxes.open.length = depth;
	boxes.open.push(boxes.node.length);
	boxes.parent.push(depth > 0 ? boxes.open[depth - 1]! : -1);
	boxes.depth.push(depth);
	boxes.start.push(from);
	boxes.total.push(to - from);
	boxes.node.push(node);
}

/** The samples of one column, by node. */
interface Column {
	readonly weight: Float64Array;
	readonly touched: number[];
}

/** The nodes of a column in preorder, with what is in each and below it. */
function treeOfColumn({ parent, depth, end }: Shape, { weight, touched }: Column) {
	const nodes: number[] = [];
	const total: number[] = [];
	const path: number[] = [];
	touched.sort((a, b) => a - b);
	const pop = () => {
		const done = path.pop()!;
		const up = path[path.length - 1];
		if (up !== undefined) total[up]! += total[done]!;
	};
	for (const node of touched) {
		while (path.length > 0 && node >= end[nodes[path[path.length - 1]!]!]!) pop();
		const above = path.length > 0 ? nodes[path[path.length - 1]!]! : -1;
		const way: number[] = [];
		for (let up = node; up >= 0 && up !== above; up = parent[up]!) way.push(up);
		for (const one of way.reverse()) {
			path.push(nodes.length);
			nodes.push(one);
			total.push(0);
		}
		total[path[path.length - 1]!]! += weight[node]!;
		weight[node] = 0;
	}
	while (path.length > 0) pop();
	touched.length = 0;
	return { nodes, total, depth };
}

/** Side by side from `from` on; what a function did itself stands behind what it called. */
function putColumn(boxes: Boxes, shape: Shape, column: Column, from: number, unit: number): void {
	const { nodes, total, depth } = treeOfColumn(shape, column);
	let all = 0;
	nodes.forEach((node, i) => (all += depth[node] === 0 ? total[i]! : 0));
	/* By depth: where the next box begins. */
	const at: number[] = [from];
	let hidden = Infinity;
	nodes.forEach((node, i) => {
		const d = depth[node]!;
		if (d > hidden) return;
		hidden = total[i]! < all * smallest ? d : Infinity;
		if (hidden === d) return;
		const begin = at[d]!;
		put(boxes, d, node, begin, begin + total[i]! * unit);
		at[d] = begin + total[i]! * unit;
		at[d + 1] = begin;
	});
}

export interface ChartOf {
	readonly profile: Profile;
	readonly sieve: Sieve;
	readonly shape: Shape;
	readonly moments: Moments;
	readonly thread: number;
}

/** Bins in a column. */
function lengthOf({ profile: { cells, meta }, sieve: { fromBin, toBin } }: ChartOf): number {
	const long = Math.ceil((toBin - fromBin) / mostColumns);
	return Math.max(1, long, Math.ceil((leastTicks * tickNs(meta)) / cells.binNs));
}

/** How many samples the thread has in each column, whatever is filtered. */
function sampledOf({ profile, thread }: ChartOf, fromNs: number, columnNs: number, columns: number): Float64Array {
	const only = new Uint8Array(profile.meta.threads.length);
	only[thread] = 1;
	const [strip] = stripColumns(profile, only, fromNs, fromNs + columnNs * columns, columns).threads;
	const kinds = strip!.samples.length / columns;
	return Float64Array.from({ length: columns }, (_, c) =>
		strip!.samples.subarray(c * kinds, (c + 1) * kinds).reduce((sum, n) => sum + n, 0),
	);
}

/** Add up what is in the column up to bin `behind`, from the thread's cell `i` on; returns the first that is not. */
function fill(of: ChartOf, column: Column, i: number, behind: number): number {
	const { profile: { cells }, sieve, shape, moments, thread } = of;
	let next = i;
	for (; next < moments.start[thread + 1]! && cells.bin[moments.cell[next]!]! < behind; next++) {
		const at = moments.cell[next]!;
		const place = cells.place[at]!;
		const node = place < 0 || shape.out?.[place] ? -1 : shape.nodeOf[place]!;
		if (node < 0 || !sieve.states[cells.state[at]!] || cells.bin[at]! < sieve.fromBin) continue;
		if (column.weight[node] === 0) column.touched.push(node);
		column.weight[node]! += cells.samples[at]!;
	}
	return next;
}

/** By column: 1 where the thread was there and has less than half of the samples that it should have. */
function missedIn({ profile: { meta } }: ChartOf, sampled: Float64Array, full: number): Uint8Array {
	const lacks = Uint8Array.from(sampled, (n) => (full > 0 && n < full / 2 ? 1 : 0));
	if (meta.mode !== "wall") return lacks.fill(0);
	const is = (n: number) => n > 0;
	for (let c = 0; c < lacks.length && !is(sampled[c]!); c++) lacks[c] = 0;
	for (let c = lacks.length - 1; c >= 0 && !is(sampled[c]!); c--) lacks[c] = 0;
	return lacks;
}

export function* charting(of: ChartOf): Steps<Chart> {
	const { profile: { cells, meta }, sieve, shape, moments, thread } = of;
	const length = lengthOf(of);
	const columns = Math.ceil((sieve.toBin - sieve.fromBin) / length);
	const columnNs = length * cells.binNs;
	const sampled = sampledOf(of, sieve.fromBin * cells.binNs, columnNs, columns);
	const tick = tickNs(meta);
	const full = tick > 0 ? columnNs / tick : 0;
	const gaps = missedIn(of, sampled, full);
	const boxes: Boxes = { parent: [], depth: [], start: [], total: [], node: [], open: [] };
	const column: Column = { weight: new Float64Array(shape.count), touched: [] };
	for (let c = 0, i = moments.start[thread]!; c < columns; c++) {
		if (c % fewColumns === 0) yield;
		i = fill(of, column, i, Math.min(sieve.toBin, sieve.fromBin + (c + 1) * length));
		const unit = sampled[c]! < full / 2 ? tick : columnNs / (sampled[c]! || 1);
		const from = c * columnNs;
		putColumn(boxes, shape, column, from, unit);
		if (gaps[c]) put(boxes, 0, missed, from + sampled[c]! * unit, from + columnNs);
	}
	const parent = Int32Array.from(boxes.parent);
	return {
		count: parent.length,
		parent,
		depth: Int32Array.from(boxes.depth),
		end: endsOf(parent),
		start: Float64Array.from(boxes.start),
		total: Float64Array.from(boxes.total),
		sum: columns * columnNs,
		node: Int32Array.from(boxes.node),
		columnNs,
	};
}
