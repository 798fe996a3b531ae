// SPDX-License-Identifier: Apache-2.0
// What threads did, overall and one by one: the figures of the cards. Shares of states are shares of samples, not of
// weight: in CPU mode weight cannot tell how often a thread waited. Layer model; pure.
import type { Profile } from "../data/profile";
import { State } from "../data/profile";
import { batchesOf, halfWidths } from "./batches";
import type { Filter, Sieve } from "./filter";
import { nodeOfSamples, type Shape } from "./tree";

/** Samples by state; a sample can be in several. `waiting`: neither on a CPU nor unknown. */
export const stateNames = [
	"onCpu", "hasGil", "wantsGil", "inGc", "exception", "unknown", "jit", "waiting",
] as const;
export type StateName = (typeof stateNames)[number];
export type StateCounts = Readonly<Record<StateName, number>>;

export interface StateFigure {
	readonly samples: number;
	readonly share: number;
	readonly halfWidth: number;
}

export interface ThreadFigures {
	/** Index into meta.threads. */
	readonly thread: number;
	readonly samples: number;
	readonly weightNs: number;
	readonly states: StateCounts;
}

export interface ProcessFigures {
	readonly process: number;
	readonly samples: number;
	readonly weightNs: number;
	readonly threads: number;
}

export interface Statistics {
	readonly samples: number;
	readonly weightNs: number;
	/** Samples by quality: exact, stopped, doubtful, partial. */
	readonly byQuality: readonly number[];
	readonly states: Readonly<Record<StateName, StateFigure>>;
	/** Whoever holds the GIL holds it for the process: the share of time in which somebody did. Null: not known, as of
	 * samples that were selected for what they show. */
	readonly gilHeld: { readonly share: number; readonly halfWidth: number } | null;
	/** Those with samples that pass; the busiest first. */
	readonly threads: readonly ThreadFigures[];
	readonly processes: readonly ProcessFigures[];
	readonly idleHidden: number;
	/** Ticks in a second, as they were taken; 0: not known. */
	readonly rateTaken: number;
	/** Of the duration, of one core. */
	readonly stoppedShare: number;
	readonly profilerShare: number;
}

function bitsOf(state: number): number {
	const waiting = state & (State.onCpu | State.unknown) ? 0 : 128;
	return (state & 127) | waiting;
}

/** Samples by thread and state, those of one after those of the other; weight by thread. */
function count(profile: Profile, sieve: Sieve, shape: Shape) {
	const { cells, meta } = profile;
	const { fromBin, toBin } = sieve;
	const kinds = stateNames.length;
	const threads = meta.threads.length;
	const states = new Float64Array(threads * kinds);
	const samples = new Float64Array(threads);
	const weight = new Float64Array(threads);
	const byQuality = [0, 0, 0, 0];
	for (let i = 0; i < cells.count; i++) {
		const thread = cells.thread[i]!;
		const at = cells.bin[i]!;
		if (!sieve.threads[thread] || !sieve.states[cells.state[i]!] || at < fromBin || at >= toBin) continue;
		const place = cells.place[i]!;
		if (place < 0 ? !shape.keepsFrameless : nodeOfSamples(shape, place) === -1) continue;
		const n = cells.samples[i]!;
		samples[thread]! += n;
		weight[thread]! += cells.weight ? cells.weight[i]! : n * meta.period_ns;
		byQuality[cells.state[i]! & 3]! += n;
		for (let set = bitsOf(cells.state[i]! >> 2); set; set &= set - 1) {
			states[thread * kinds + 31 - Math.clz32(set & -set)]! += n;
		}
	}
	return { states, samples, weight, byQuality };
}

function named(states: Float64Array, thread: number): StateCounts {
	const kinds = stateNames.length;
	const counts = stateNames.map((name, k) => [name, states[thread * kinds + k]!] as const);
	return Object.fromEntries(counts) as Record<StateName, number>;
}

function sum(values: Iterable<number>): number {
	let total = 0;
	for (const v of values) total += v;
	return total;
}

/** How much time of processes there was in one of the recording: of all, or of some. */
function processTime(profile: Profile, shown?: readonly ProcessFigures[]): number {
	const { processes, duration_ns } = profile.meta;
	if (processes.length <= 1) return 1;
	const some = shown?.map(({ process }) => processes[process]!);
	const lived = sum((some ?? processes).map((p) => Math.max(0, (p.ended_ns ?? duration_ns) - p.came_ns)));
	return lived > 0 && duration_ns > 0 ? lived / duration_ns : 1;
}

function overallStates(profile: Profile, sieve: Sieve, shape: Shape, threads: readonly ThreadFigures[], all: number) {
	const rows = Uint32Array.from({ length: 1024 }, (_, i) => bitsOf(i >> 2));
	const widths = halfWidths(batchesOf(profile, sieve, shape, "samples", stateNames.length, { byState: rows }));
	const figures = stateNames.map((name, k) => {
		const samples = sum(threads.map((t) => t.states[name]));
		return [name, { samples, share: all > 0 ? samples / all : 0, halfWidth: widths[k]! }] as const;
	});
	return Object.fromEntries(figures) as Record<StateName, StateFigure>;
}

function processFigures(profile: Profile, threads: readonly ThreadFigures[]): ProcessFigures[] {
	const all = profile.meta.processes.map((_, process) => {
		const own = threads.filter((t) => profile.meta.threads[t.thread]!.process === process);
		const samples = sum(own.map((t) => t.samples));
		return { process, samples, weightNs: sum(own.map((t) => t.weightNs)), threads: own.length };
	});
	return all.filter((p) => p.samples > 0).sort((a, b) => b.weightNs - a.weightNs || a.process - b.process);
}

/** The part of the recording that was asked for. */
function timeShare(profile: Profile, sieve: Sieve): number {
	const { bins } = profile.cells;
	return bins > 0 ? Math.min(1, (sieve.toBin - sieve.fromBin) / bins) : 1;
}

/** How many ticks there were in the time and the processes that were asked for; 0: not known. */
function ticksOf(profile: Profile, filter: Filter, sieve: Sieve, shown: readonly ProcessFigures[]): number {
	const { meta } = profile;
	if (meta.selected || filter.states !== 0 || filter.modules.length > 0) return 0;
	const some = filter.processes ?? filter.threads ? shown : undefined;
	return meta.ticks * processTime(profile, some) * timeShare(profile, sieve);
}

function gilHeldOf({ meta }: Profile, ticks: number, hasGil: StateFigure, all: number): Statistics["gilHeld"] {
	if (ticks <= 0 || meta.mode !== "wall") return null;
	return { share: Math.min(1, hasGil.samples / ticks), halfWidth: (hasGil.halfWidth * all) / ticks };
}

export function statisticsOf(profile: Profile, filter: Filter, sieve: Sieve, shape: Shape): Statistics {
	const { meta } = profile;
	const { states, samples, weight, byQuality } = count(profile, sieve, shape);
	const threads: ThreadFigures[] = [];
	samples.forEach((n, thread) => {
		if (n > 0) threads.push({ thread, samples: n, weightNs: weight[thread]!, states: named(states, thread) });
	});
	threads.sort((a, b) => b.states.onCpu - a.states.onCpu || b.samples - a.samples || a.thread - b.thread);
	const all = sum(samples);
	const overall = overallStates(profile, sieve, shape, threads, all);
	const processes = processFigures(profile, threads);
	const seconds = meta.duration_ns / 1e9;
	return {
		samples: all,
		weightNs: sum(weight),
		byQuality,
		states: overall,
		gilHeld: gilHeldOf(profile, ticksOf(profile, filter, sieve, processes), overall.hasGil, all),
		threads,
		processes,
		idleHidden: sieve.idleHidden,
		rateTaken: seconds > 0 ? meta.ticks / seconds : 0,
		stoppedShare: meta.duration_ns > 0 ? meta.overhead.stopped_ns / (meta.duration_ns * processTime(profile)) : 0,
		profilerShare: meta.duration_ns > 0 ? meta.overhead.profiler_cpu_ns / meta.duration_ns : 0,
	};
}
