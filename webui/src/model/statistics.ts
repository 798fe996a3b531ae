// SPDX-License-Identifier: Apache-2.0
// What threads did, overall and one by one: the figures of the cards. Shares of states are shares of samples, not of
// weight: in CPU mode weight cannot tell how often a thread waited. Layer model; pure.
import type { Profile } from "../data/profile";
import { State } from "../data/profile";
import { batchesOf, halfWidths, type Selected } from "./batches";
import type { Filter, Sieve } from "./filter";
import { type Recording, recordingOf } from "./recording";
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
	/** Of the range of time that is applied. */
	readonly recording: Recording;
	/** CPU time of threads is that of all of their samples. */
	readonly knowsCpuTime: boolean;
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
function processTime({ lived, durationNs }: Recording, some?: readonly ProcessFigures[]): number {
	if (lived.length <= 1) return 1;
	const all = sum(some ? some.map(({ process }) => lived[process]!) : lived);
	return all > 0 && durationNs > 0 ? all / durationNs : 1;
}

function overallStates(selected: Selected, threads: readonly ThreadFigures[], all: number) {
	const rows = Uint32Array.from({ length: 1024 }, (_, i) => bitsOf(i >> 2));
	const widths = halfWidths(batchesOf(selected, "samples", stateNames.length, { byState: rows }));
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

/** How many ticks there were for the processes that were asked for; 0: not known. */
function ticksOf(asked: Asked, recording: Recording, shown: readonly ProcessFigures[]): number {
	const { filter, selects } = asked;
	if (selects) return 0;
	const some = (filter.processes ?? filter.threads) ? shown : undefined;
	return recording.ticks * processTime(recording, some);
}

function gilHeldOf(mode: string, ticks: number, hasGil: StateFigure, all: number): Statistics["gilHeld"] {
	if (ticks <= 0 || mode !== "wall") return null;
	return { share: Math.min(1, hasGil.samples / ticks), halfWidth: (hasGil.halfWidth * all) / ticks };
}

export interface Asked extends Selected {
	readonly filter: Filter;
	/** Samples are left out for what they show: then ticks are not the whole of what is left. */
	readonly selects: boolean;
}

export function statisticsOf(asked: Asked): Statistics {
	const { profile, sieve, shape } = asked;
	const { states, samples, weight, byQuality } = count(profile, sieve, shape);
	const threads: ThreadFigures[] = [];
	samples.forEach((n, thread) => {
		if (n > 0) threads.push({ thread, samples: n, weightNs: weight[thread]!, states: named(states, thread) });
	});
	threads.sort((a, b) => b.states.onCpu - a.states.onCpu || b.samples - a.samples || a.thread - b.thread);
	const all = sum(samples);
	const overall = overallStates(asked, threads, all);
	const processes = processFigures(profile, threads);
	const recording = recordingOf(profile, sieve.range);
	const { durationNs, stoppedNs, profilerCpuNs } = recording;
	const ticks = ticksOf(asked, recording, processes);
	return {
		samples: all,
		weightNs: sum(weight),
		byQuality,
		states: overall,
		gilHeld: gilHeldOf(profile.meta.mode, ticks, overall.hasGil, all),
		threads,
		processes,
		idleHidden: sieve.idleHidden,
		recording,
		knowsCpuTime: !asked.selects && !sieve.range,
		rateTaken: durationNs > 0 ? (recording.ticks * 1e9) / durationNs : 0,
		stoppedShare: durationNs > 0 ? stoppedNs / (durationNs * processTime(recording)) : 0,
		profilerShare: durationNs > 0 ? profilerCpuNs / durationNs : 0,
	};
}
