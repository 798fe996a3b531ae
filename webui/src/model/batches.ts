// SPDX-License-Identifier: Apache-2.0
// What rows got in each batch of time, for their intervals. Several rows are asked for at once: each is a bit, so that
// one pass over the tree and one over the cells answer for all of them. Layer model; pure.
import type { Profile } from "../data/profile";
import { finish, type Steps, stride } from "../data/steps";
import type { Sieve, Unit } from "./filter";
import { shareHalfWidth, shareSpread, type Spread } from "./intervals";
import { nodeOfSamples, type Shape } from "./tree";

/** Rows that `rowBits` has room for: two bits for each. */
export const maxRows = 15;

export interface Batches {
	/** Everything that passes. */
	readonly all: Float64Array;
	/** By row, then batch. */
	readonly hits: readonly Float64Array[];
	/** Samples of all, and by row. */
	readonly samples: number;
	readonly rowSamples: Float64Array;
}

const mostBatches = 64;
const shortestBatchNs = 2 ** 24;

/** How bins of cells are put together: (bin - first) / length, rounded down. */
export interface Batching {
	readonly first: number;
	readonly length: number;
	readonly count: number;
}

/** The last bin with a sample that the command line would take for this range. Idle threads are left out later there,
 * too. */
function* lastBin({ cells }: Profile, sieve: Sieve, shape: Shape): Steps<number> {
	const { place, state, bin } = cells;
	const { asked, fromBin, toBin } = sieve;
	let last = fromBin;
	for (let i = 0; i < place.length; i++) {
		if (i % stride === 0) yield;
		const at = bin[i]!;
		if (at <= last || at >= toBin || !asked[state[i]!]) continue;
		const l = place[i]!;
		if (l < 0 ? shape.keepsFrameless : nodeOfSamples(shape, l) !== -1) last = at;
	}
	return last;
}

/** The batches of the recording; of a range of time those that a recording of it would have: at most 64, as short as
 * they can be. A bin is the least that one can be. */
export function* batching(profile: Profile, sieve: Sieve, shape: Shape): Steps<Batching> {
	const { bins, binNs } = profile.cells;
	if (!sieve.range) {
		const length = Math.max(1, Math.round(profile.meta.batch_ns / binNs) || 1);
		return { first: 0, length, count: Math.ceil(bins / length) };
	}
	const first = sieve.fromBin;
	const beyond = (yield* lastBin(profile, sieve, shape)) + 1 - first;
	let length = 1;
	while (length * binNs < shortestBatchNs || Math.ceil(beyond / length) > mostBatches) length *= 2;
	return { first, length, count: Math.ceil(beyond / length) };
}

export function batchingOf(profile: Profile, sieve: Sieve, shape: Shape): Batching {
	return finish(batching(profile, sieve, shape));
}

/** Of a set of rows for a cell: it is one of those that count. */
export const counts = 1 << 31;

/** What is asked for: a set of rows for each place of the profile, for each `state << 2 | quality`, or for each cell
 * (then only those with `counts` are all). */
export type Rows =
	| { readonly byPlace: Uint32Array }
	| { readonly byState: Uint32Array }
	| { readonly byCell: Int32Array };

/** Which cells, and in which batches. */
export interface Selected {
	readonly profile: Profile;
	readonly sieve: Sieve;
	readonly shape: Shape;
	readonly batching: Batching;
}

/** Whether a cell passes the sieve and is in the shape. */
export function passing({ profile, sieve, shape }: Selected): (cell: number) => boolean {
	const { place, thread, state, bin } = profile.cells;
	const { nodeOf, out, keepsFrameless } = shape;
	return (cell) => {
		const inside = bin[cell]! >= sieve.fromBin && bin[cell]! < sieve.toBin;
		if (!sieve.threads[thread[cell]!] || !sieve.states[state[cell]!] || inside === sieve.outside) return false;
		const l = place[cell]!;
		return l < 0 ? keepsFrameless : nodeOf[l] !== -1 && !out?.[l];
	};
}

/** What batches have of everything, whatever the rows. */
export type Whole = Pick<Batches, "all" | "samples">;

/** Add up the cells that pass the sieve and are in the shape; where `whole` is known only those that a row has. */
export function* addingBatches(
	selected: Selected, unit: Unit, count: number, rows: Rows, whole: Whole | null = null,
): Steps<Batches> {
	const { profile, sieve, shape, batching: cut } = selected;
	const { place, thread, state, bin, samples, weight } = profile.cells;
	const { nodeOf, out, keepsFrameless } = shape;
	const { threads, states, fromBin, toBin, outside } = sieve;
	const { first, length, count: batches } = cut;
	const amount = unit === "time" && weight ? weight : samples;
	const all = new Float64Array(batches);
	const hits = Array.from({ length: count }, () => new Float64Array(batches));
	const rowSamples = new Float64Array(count);
	const ofPlace = "byPlace" in rows ? rows.byPlace : null;
	const ofState = "byState" in rows ? rows.byState : null;
	const ofCell = "byCell" in rows ? rows.byCell : null;
	let sampled = 0;
	for (let i = 0; i < place.length; i++) {
		if (i % stride === 0) yield;
		if (ofCell && !ofCell[i]) continue;
		const l = place[i]!;
		let set = l < 0 || !ofPlace ? 0 : ofPlace[l]!;
		if (ofState) set = ofState[state[i]!]!;
		if (ofCell) set = ofCell[i]! & ~counts;
		if (whole && set === 0) continue;
		const at = bin[i]!;
		const inside = at >= fromBin && at < toBin;
		if (!threads[thread[i]!] || !states[state[i]!] || inside === outside) continue;
		if (l < 0 ? !keepsFrameless : nodeOf[l] === -1 || out?.[l]) continue;
		const b = Math.floor((at - first) / length);
		all[b]! += amount[i]!;
		sampled += samples[i]!;
		for (; set; set &= set - 1) {
			const row = 31 - Math.clz32(set & -set);
			hits[row]![b]! += amount[i]!;
			rowSamples[row]! += samples[i]!;
		}
	}
	return { ...(whole ?? { all, samples: sampled }), hits, rowSamples };
}

export function batchesOf(selected: Selected, unit: Unit, count: number, rows: Rows): Batches {
	return finish(addingBatches(selected, unit, count, rows));
}

/** Trials are samples: what is in nanoseconds is scaled to add up to their number. */
function inTrials<T>({ all, hits, samples }: Batches, of: (hit: Float64Array, all: Float64Array) => T): T[] {
	const sum = all.reduce((total, n) => total + n, 0);
	const scale = sum > 0 ? samples / sum : 0;
	const scaled = all.map((n) => n * scale);
	return hits.map((hit) => of(hit.map((n) => n * scale), scaled));
}

export function halfWidths(batches: Batches): number[] {
	return inTrials(batches, shareHalfWidth);
}

export function spreads(batches: Batches): Spread[] {
	return inTrials(batches, shareSpread);
}

/** By place of the profile: bit 2n if node is that of row n, bit 2n + 1 if it is, or one further out in its stack. */
export function* findingBits(shape: Shape, rowOf: (node: number) => number): Steps<Uint32Array> {
	const byNode = new Uint32Array(shape.count);
	const selfBits = 0x55555555;
	for (let i = 0; i < shape.count; i++) {
		if (i % stride === 0) yield;
		const row = rowOf(i);
		const up = shape.parent[i]!;
		const outer = up < 0 ? 0 : byNode[up]! & ~selfBits;
		byNode[i] = row < 0 ? outer : outer | (3 << (2 * row));
	}
	return yield* spread(shape.nodeOf, byNode);
}

export function rowBits(shape: Shape, rowOf: (node: number) => number): Uint32Array {
	return finish(findingBits(shape, rowOf));
}

/** What nodes have, by place of the profile. */
function* spread(nodeOf: Int32Array, byNode: Uint32Array): Steps<Uint32Array> {
	const byPlace = new Uint32Array(nodeOf.length);
	for (let l = 0; l < nodeOf.length; l++) {
		if (l % stride === 0) yield;
		if (nodeOf[l]! >= 0) byPlace[l] = byNode[nodeOf[l]!]!;
	}
	return byPlace;
}

/** The same for one node: bit 0 for it, bit 1 for its subtree. */
export function nodeBits(shape: Shape, node: number): Uint32Array {
	const end = shape.end[node]!;
	const byPlace = new Uint32Array(shape.nodeOf.length);
	for (let l = 0; l < byPlace.length; l++) {
		const at = shape.nodeOf[l]!;
		if (at >= node && at < end) byPlace[l] = at === node ? 3 : 2;
	}
	return byPlace;
}
