// SPDX-License-Identifier: Apache-2.0
// Which samples count. Layer model; pure.
import type { Profile } from "../data/profile";
import { State, stateKinds } from "../data/profile";
import { finish, type Steps, stride } from "../data/steps";
import { doings } from "../data/words";
import { hasState } from "./reasons";

export { Doing } from "../data/words";

export interface Filter {
	/** Indexes into meta.processes, meta.threads; null: all. Threads asked for are shown even if they are idle. */
	readonly processes: readonly number[] | null;
	readonly threads: readonly number[] | null;
	/** Nanoseconds since the start, from and to; null: all. */
	readonly time: readonly [number, number] | null;
	/** Set of `Doing`; 0: all. */
	readonly states: number;
	/** "hide": threads that did nothing all along are left out; "keep": nothing is; "skip": only samples on a CPU or
	 * holding the GIL count. */
	readonly idle: "hide" | "keep" | "skip";
	/** Set of 1 << `Origin`: other frames are left out of the stacks; 0: all. */
	readonly kinds: number;
	/** String ids of modules: only samples with a frame of one of them; empty: all. */
	readonly modules: readonly number[];
	/** Indexes of `labelsOf` (labels.ts): only samples with these labels; empty: all. */
	readonly labels: readonly number[];
}

export const noFilter: Filter = {
	processes: null,
	threads: null,
	time: null,
	states: 0,
	idle: "hide",
	kinds: 0,
	modules: [],
	labels: [],
};

export type Unit = "time" | "samples";

/** A filter as tables to look up a cell in. Frames and modules are asked for elsewhere (shape.ts): they are a matter of
 * stacks. */
export interface Sieve {
	/** By thread, by state << 2 | quality: 1 passes. */
	readonly threads: Uint8Array;
	readonly states: Uint8Array;
	/** By state << 2 | quality: 1 has a state that is asked for. What is left out for being idle can have it. */
	readonly asked: Uint8Array;
	/** Bins of cells. */
	readonly fromBin: number;
	readonly toBin: number;
	/** Those are what is left out, and all other bins count. */
	readonly outside: boolean;
	/** The time of these bins; null: all, or what is outside. */
	readonly range: Filter["time"];
	/** How many threads are left out for being idle. */
	readonly idleHidden: number;
}

function doingOf(state: number): number {
	let set = 0;
	for (const doing of doings) if (hasState(state, doing.state)) set |= doing.bit;
	return set;
}

function askedOf({ states }: Filter): Uint8Array {
	return Uint8Array.from({ length: stateKinds }, (_, i) => (!states || states & doingOf(i >> 2) ? 1 : 0));
}

function statesOf({ idle }: Filter, asked: Uint8Array): Uint8Array {
	if (idle !== "skip") return asked;
	return asked.map((is, i) => ((i >> 2) & (State.onCpu | State.hasGil) ? is : 0));
}

function hidesIdle(filter: Filter): boolean {
	return filter.idle === "hide" && filter.threads === null;
}

function threadsOf(profile: Profile, filter: Filter): Uint8Array {
	const { threads, processes } = filter;
	return Uint8Array.from(profile.meta.threads, (t, i) => {
		if (threads && !threads.includes(i)) return 0;
		if (processes && !processes.includes(t.process)) return 0;
		return t.idle && hidesIdle(filter) ? 0 : 1;
	});
}

/** The bins that a time range touches; null: all of them, or there is no more than one. */
function binsOf({ meta, cells }: Profile, time: Filter["time"]): readonly [number, number] | null {
	const { bins, binNs } = cells;
	if (!time || !(binNs > 0) || meta.untimed) return null;
	const from = Math.min(Math.max(Math.floor(time[0] / binNs), 0), Math.max(bins - 1, 0));
	const to = Math.max(from + 1, Math.min(Math.ceil(time[1] / binNs), bins));
	return from === 0 && to === bins ? null : [from, to];
}

/** What is applied of a time range: whole bins. Null: all of the time. */
export function rangeOf(profile: Profile, time: Filter["time"]): Filter["time"] {
	const bins = binsOf(profile, time);
	return bins && [bins[0] * profile.cells.binNs, bins[1] * profile.cells.binNs];
}

/** All that `filter` leaves out by time; where it chooses no time, all threads that it leaves out, whenever they ran.
 * Null: it chooses neither. */
export function restOf(profile: Profile, filter: Filter): Sieve | null {
	if (binsOf(profile, filter.time)) return { ...sieveOf(profile, filter), range: null, outside: true };
	const left = leftOut(profile, filter);
	return left.length > 0 ? sieveOf(profile, { ...filter, processes: null, threads: left }) : null;
}

/** Threads that were not chosen, though others were; not for being idle. */
function leftOut(profile: Profile, filter: Filter): number[] {
	if (!filter.threads && !filter.processes) return [];
	const chosen = threadsOf(profile, filter);
	const { threads } = profile.meta;
	return [...threads.keys()].filter((i) => !chosen[i] && !(threads[i]!.idle && filter.idle === "hide"));
}

export function sieveOf(profile: Profile, filter: Filter): Sieve {
	const [fromBin, toBin] = binsOf(profile, filter.time) ?? [0, profile.cells.bins];
	const asked = askedOf(filter);
	return {
		threads: threadsOf(profile, filter),
		states: statesOf(filter, asked),
		asked,
		fromBin,
		toBin,
		outside: false,
		range: rangeOf(profile, filter.time),
		idleHidden: hidesIdle(filter) ? profile.meta.threads.filter((t) => t.idle).length : 0,
	};
}

/** What passes, by place. */
export interface PlaceValues {
	/** By L node; of stacks without frames `frameless`. */
	readonly values: Float64Array;
	readonly frameless: number;
}

export function* addingPlaces(profile: Profile, sieve: Sieve, unit: Unit): Steps<PlaceValues> {
	const { count, place, thread, state, bin, samples, weight } = profile.cells;
	const { threads, states, fromBin, toBin, outside } = sieve;
	const values = new Float64Array(profile.tree.places);
	const amount = unit === "time" && weight ? weight : samples;
	const scale = unit === "time" && !weight ? profile.meta.period_ns : 1;
	let frameless = 0;
	for (let i = 0; i < count; i++) {
		if (i % stride === 0) yield;
		const at = bin[i]!;
		const inside = at >= fromBin && at < toBin;
		if (!threads[thread[i]!] || !states[state[i]!] || inside === outside) continue;
		const l = place[i]!;
		if (l < 0) frameless += amount[i]!;
		else values[l]! += amount[i]!;
	}
	if (scale !== 1) for (let l = 0; l < values.length; l++) values[l]! *= scale;
	return { values, frameless: frameless * scale };
}

export function placeValues(profile: Profile, sieve: Sieve, unit: Unit): PlaceValues {
	return finish(addingPlaces(profile, sieve, unit));
}

/** What passes, by class of state (0: none) and by what `to` makes of its place (below 0: nothing), in one pass. */
export function* addingByClass(
	profile: Profile,
	sieve: Sieve,
	unit: Unit,
	classes: { readonly of: Uint8Array; readonly count: number },
	to: { readonly of: Int32Array; readonly count: number },
): Steps<Float64Array[]> {
	const { count, place, thread, state, bin, samples, weight } = profile.cells;
	const { threads, fromBin, toBin } = sieve;
	const amount = unit === "time" && weight ? weight : samples;
	const scale = unit === "time" && !weight ? profile.meta.period_ns : 1;
	const values = Array.from({ length: classes.count }, () => new Float64Array(to.count));
	for (let i = 0; i < count; i++) {
		if (i % stride === 0) yield;
		const kind = classes.of[state[i]!]!;
		const at = bin[i]!;
		if (!kind || !threads[thread[i]!] || at < fromBin || at >= toBin) continue;
		const target = place[i]! < 0 ? -1 : to.of[place[i]!]!;
		if (target >= 0) values[kind - 1]![target]! += amount[i]! * scale;
	}
	return values;
}

/** The states of a sieve that have one of the bits, or, with bits 0, that are waiting. */
export function statesWith(sieve: Sieve, bits: number): Uint8Array {
	return sieve.states.map((passes, i) => (passes && hasState(i >> 2, bits) ? 1 : 0));
}
