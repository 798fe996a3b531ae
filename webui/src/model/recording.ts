// SPDX-License-Identifier: Apache-2.0
// What is known of a recording as a whole, for a range of its time: as `plumb report --time` has it, what is known of
// the whole only is taken to be spread evenly over it. Layer model; pure.
import type { Losses, Profile } from "../data/profile";
import type { Filter } from "./filter";

export interface Recording {
	readonly durationNs: number;
	readonly ticks: number;
	/** What they stand for; 0: not known. */
	readonly takenNs: number;
	readonly losses: Losses;
	readonly stops: number;
	readonly stopsRefused: number;
	readonly stoppedNs: number;
	readonly profilerCpuNs: number;
	/** By process: for how long it was there. */
	readonly lived: readonly number[];
}

function durationOf(whole: number, [from, to]: readonly [number, number]): number {
	const end = whole > 0 ? Math.min(to, whole) : to;
	return Math.max(0, end - from);
}

function lossesOf(losses: Losses, scaled: (n: number) => number): Losses {
	const all = Object.entries(losses).map(([name, n]) => [name, typeof n === "number" ? scaled(n) : n] as const);
	return Object.fromEntries(all) as unknown as Losses;
}

function livedOf(profile: Profile, range: Filter["time"], durationNs: number): number[] {
	const [from, to] = range ?? [0, Infinity];
	const since = (ns: number) => Math.max(0, ns - from);
	return profile.meta.processes.map(({ came_ns, ended_ns }) => {
		const end = ended_ns === null || ended_ns > to ? durationNs : since(ended_ns);
		return Math.max(0, end - since(came_ns));
	});
}

/** `range`: null: all of it. */
export function recordingOf(profile: Profile, range: Filter["time"]): Recording {
	const { duration_ns, ticks, taken_ns, losses, overhead } = profile.meta;
	const durationNs = range ? durationOf(duration_ns, range) : duration_ns;
	const share = range && duration_ns > 0 ? durationNs / duration_ns : 1;
	const scaled = (n: number) => (range ? Math.floor(n * share + 0.5) : n);
	const { tracer, rights, filter, other } = overhead.stops_refused;
	return {
		durationNs,
		ticks: scaled(ticks),
		takenNs: scaled(taken_ns ?? 0),
		losses: lossesOf(losses, scaled),
		stops: scaled(overhead.stops),
		stopsRefused: [tracer, rights, filter, other].reduce((sum, n) => sum + scaled(n), 0),
		stoppedNs: scaled(overhead.stopped_ns),
		profilerCpuNs: scaled(overhead.profiler_cpu_ns),
		lived: livedOf(profile, range, durationNs),
	};
}
