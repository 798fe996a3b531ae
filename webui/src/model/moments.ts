// SPDX-License-Identifier: Apache-2.0
// What a thread did at an instant: the cells of each thread in the order of time. Layer model; pure.
import type { Cells, Profile } from "../data/profile";
import { finish, type Steps, stride } from "../data/steps";
import type { Sieve } from "./filter";
import type { Shape } from "./tree";

/** Cells of thread t: cell[start[t]] .. cell[start[t + 1] - 1], bins rising, those of a bin in the order of the
 * tree. */
export interface Moments {
	readonly start: Uint32Array;
	readonly cell: Uint32Array;
}

const DIGIT = 16;
const MASK = 2 ** DIGIT - 1;

/** Those of equal digits keep their order, so that digits can be gone through from the lowest on. */
function* sortedByDigit(order: Uint32Array, key: Uint32Array, shift: number): Steps<Uint32Array> {
	const next = new Uint32Array(MASK + 2);
	const digit = (i: number) => (key[order[i]!]! >>> shift) & MASK;
	for (let i = 0; i < order.length; i++) {
		if (i % stride === 0) yield;
		next[digit(i) + 1]!++;
	}
	for (let d = 1; d < next.length; d++) next[d]! += next[d - 1]!;
	const sorted = new Uint32Array(order.length);
	for (let i = 0; i < order.length; i++) {
		if (i % stride === 0) yield;
		sorted[next[digit(i)]!++] = order[i]!;
	}
	return sorted;
}

function* sortedBy(order: Uint32Array, key: Uint32Array, most: number): Steps<Uint32Array> {
	let sorted = yield* sortedByDigit(order, key, 0);
	if (most > MASK) sorted = yield* sortedByDigit(sorted, key, DIGIT);
	return sorted;
}

export function* findingMoments({ count, thread, bin, bins }: Cells, threads: number): Steps<Moments> {
	const cells = new Uint32Array(count);
	for (let i = 0; i < count; i++) cells[i] = i;
	const cell = yield* sortedBy(yield* sortedBy(cells, bin, bins), thread, threads);
	const start = new Uint32Array(threads + 1);
	for (let i = 0; i < count; i++) start[thread[i]! + 1]!++;
	for (let t = 0; t < threads; t++) start[t + 1]! += start[t]!;
	return { start, cell };
}

export function momentsOf(cells: Cells, threads: number): Moments {
	return finish(findingMoments(cells, threads));
}

/** The first of its cells that is in this bin or later. */
function firstFrom({ start, cell }: Moments, { bin }: Cells, thread: number, from: number): number {
	let low = start[thread]!;
	let high = start[thread + 1]!;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (bin[cell[middle]!]! < from) low = middle + 1;
		else high = middle;
	}
	return low;
}

export interface Moment {
	/** The node that most samples are in, and what its thread did in most of these. */
	readonly node: number;
	readonly state: number;
	/** Samples of the node, and all. */
	readonly samples: number;
	readonly all: number;
}

/** What the thread did from one instant to another, in bins that these touch; null: nothing of it passes. */
export function momentAt(
	{ profile, sieve, shape }: { profile: Profile; sieve: Sieve; shape: Shape },
	moments: Moments,
	thread: number,
	[fromNs, toNs]: readonly [number, number],
): Moment | null {
	const { cells } = profile;
	const from = Math.max(Math.floor(fromNs / cells.binNs), sieve.fromBin);
	const to = Math.min(Math.max(Math.ceil(toNs / cells.binNs), from + 1), sieve.toBin);
	const found = new Map<number, { samples: number; state: number; most: number }>();
	let all = 0;
	for (let i = firstFrom(moments, cells, thread, from); i < moments.start[thread + 1]!; i++) {
		const at = moments.cell[i]!;
		if (cells.bin[at]! >= to) break;
		const place = cells.place[at]!;
		const node = place < 0 || shape.out?.[place] ? -1 : shape.nodeOf[place]!;
		if (node < 0 || !sieve.states[cells.state[at]!]) continue;
		const samples = cells.samples[at]!;
		const one = found.get(node) ?? { samples: 0, state: 0, most: 0 };
		one.samples += samples;
		if (samples > one.most) Object.assign(one, { most: samples, state: cells.state[at]! >> 2 });
		found.set(node, one);
		all += samples;
	}
	const [best] = [...found].sort(([a, x], [b, y]) => y.samples - x.samples || a - b);
	return best ? { node: best[0], state: best[1].state, samples: best[1].samples, all } : null;
}

/** Spread over columns, of which a bin is `width` wide. */
function spread(row: Float64Array, bin: number, width: number, samples: number): void {
	const from = bin * width;
	const last = Math.min(row.length, from + width);
	for (let c = Math.floor(from); c < last; c++) {
		row[c]! += (samples * (Math.min(last, c + 1) - Math.max(from, c))) / width;
	}
}

/** By thread: samples of places for which `holds` is not 0, in so many slots. */
function* samplesOf(
	profile: Profile,
	sieve: Sieve,
	holds: Uint32Array,
	slots: { readonly count: number; readonly width: number },
): Steps<Map<number, Float64Array>> {
	const { count, place, thread, state, bin, samples } = profile.cells;
	const { threads, states, fromBin, toBin } = sieve;
	const found = new Map<number, Float64Array>();
	for (let i = 0; i < count; i++) {
		if (i % stride === 0) yield;
		const at = bin[i]!;
		const t = thread[i]!;
		if (place[i]! < 0 || !holds[place[i]!] || !threads[t] || !states[state[i]!]) continue;
		if (at < fromBin || at >= toBin) continue;
		let row = found.get(t);
		if (!row) found.set(t, (row = new Float64Array(slots.count)));
		spread(row, at, slots.width, samples[i]!);
	}
	return found;
}

/** By thread and column: the share of samples of places for which `holds` is not 0, of so many as there can be. */
export function* addingRan(
	profile: Profile,
	sieve: Sieve,
	holds: Uint32Array,
	{ durationNs, columns, full }: { durationNs: number; columns: number; full: number },
): Steps<ReadonlyMap<number, Float32Array>> {
	const { binNs, bins } = profile.cells;
	const width = (binNs / durationNs) * columns;
	/* Bins that are wider than columns are added up before they are spread: there are few, and many cells of each. */
	const slots = width > 1 ? { count: bins, width: 1 } : { count: columns, width };
	const ran = new Map<number, Float32Array>();
	for (const [thread, found] of yield* samplesOf(profile, sieve, holds, slots)) {
		let row = found;
		if (width > 1) {
			row = new Float64Array(columns);
			for (let bin = 0; bin < bins; bin++) if (found[bin]) spread(row, bin, width, found[bin]);
		}
		ran.set(thread, Float32Array.from(row, (samples) => samples / (full || 1)));
	}
	return ran;
}
