// SPDX-License-Identifier: Apache-2.0
// What threads did, overall and one by one: the figures of the cards. Shares of states are shares of the time, as
// samples of a lower rate stand for more; but of samples unless the mode is wall, as CPU time does not tell for how
// long a thread waited. Layer model; pure.
import type { Profile } from "../data/profile";
import { State, stateKinds } from "../data/profile";
import { type Steps, stride } from "../data/steps";
import { states } from "../data/words";
import { addingBatches, halfWidths, type Selected } from "./batches";
import type { Filter, Sieve, Unit } from "./filter";
import { parentsFirst } from "./processes";
import { type Recording, recordingOf } from "./recording";
import { nodeOfSamples, type Shape } from "./tree";

/** By state; a sample can be in several. `waiting`: neither on a CPU nor unknown. */
export type StateName = keyof typeof State | "waiting";
export const stateNames: readonly StateName[] = [...states.map(({ name }) => name), "waiting"];
const waitingBit = 1 << states.length;
export type StateShares = Readonly<Record<StateName, number>>;

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
	/** Of its time. */
	readonly states: StateShares;
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
	const waiting = state & (State.onCpu | State.unknown) ? 0 : waitingBit;
	return (state & (waitingBit - 1)) | waiting;
}

/** What shares of states are shares of. */
export function stateUnit({ meta, cells }: Profile): Unit {
	return meta.mode === "wall" && (cells.weight || meta.period_ns > 0) ? "time" : "samples";
}

/** Samples and weight by thread; what states have by thread, those of one after those of the other, in the unit. */
function* count(profile: Profile, sieve: Sieve, shape: Shape) {
	const { cells, meta } = profile;
	const { fromBin, toBin } = sieve;
	const kinds = stateNames.length;
	const threads = meta.threads.length;
	const states = new Float64Array(threads * kinds);
	const samples = new Float64Array(threads);
	const weight = new Float64Array(threads);
	const byQuality = [0, 0, 0, 0];
	const timed = stateUnit(profile) === "time";
	for (let i = 0; i < cells.count; i++) {
		if (i % stride === 0) yield;
		const thread = cells.thread[i]!;
		const at = cells.bin[i]!;
		if (!sieve.threads[thread] || !sieve.states[cells.state[i]!] || at < fromBin || at >= toBin) continue;
		const place = cells.place[i]!;
		if (place < 0 ? !shape.keepsFrameless : nodeOfSamples(shape, place) === -1) continue;
		const n = cells.samples[i]!;
		samples[thread]! += n;
		const ns = cells.weight ? cells.weight[i]! : n * meta.period_ns;
		weight[thread]! += ns;
		byQuality[cells.state[i]! & 3]! += n;
		for (let set = bitsOf(cells.state[i]! >> 2); set; set &= set - 1) {
			states[thread * kinds + 31 - Math.clz32(set & -set)]! += timed ? ns : n;
		}
	}
	return { states, samples, weight, byQuality };
}

function named(states: Float64Array, thread: number, whole: number): StateShares {
	const kinds = stateNames.length;
	const part = (k: number) => (whole > 0 ? states[thread * kinds + k]! / whole : 0);
	return Object.fromEntries(stateNames.map((name, k) => [name, part(k)] as const)) as Record<StateName, number>;
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

function* overallStates(selected: Selected) {
	const rows = Uint32Array.from({ length: stateKinds }, (_, i) => bitsOf(i >> 2));
	const batches = yield* addingBatches(selected, stateUnit(selected.profile), stateNames.length, { byState: rows });
	const [widths, all] = [halfWidths(batches), sum(batches.all)];
	const figures = stateNames.map((name, k) => {
		const share = all > 0 ? sum(batches.hits[k]!) / all : 0;
		return [name, { samples: batches.rowSamples[k]!, share, halfWidth: widths[k]! }] as const;
	});
	return Object.fromEntries(figures) as Record<StateName, StateFigure>;
}

function processFigures(profile: Profile, threads: readonly ThreadFigures[]): ProcessFigures[] {
	const all = profile.meta.processes.map((_, process) => ({ process, samples: 0, weightNs: 0, threads: 0 }));
	for (const { thread, samples, weightNs } of threads) {
		const own = all[profile.meta.threads[thread]!.process]!;
		own.samples += samples;
		own.weightNs += weightNs;
		own.threads++;
	}
	const seen = all.filter((p) => p.samples > 0).sort((a, b) => b.weightNs - a.weightNs || a.process - b.process);
	return parentsFirst(profile.meta.processes, seen.map(({ process }) => process)).map((process) => all[process]!);
}

/** How many threads there were at once: of the time that ticks stand for, or, where only their number is known, of
 * ticks. 0: not known. */
function threadsAtOnce(asked: Asked, recording: Recording, processes: readonly ProcessFigures[]): number {
	const { filter, selects } = asked;
	const some = (filter.processes ?? filter.threads) ? processes : undefined;
	const { takenNs, ticks } = recording;
	const whole = (takenNs > 0 ? takenNs : ticks) * processTime(recording, some);
	const all = sum(processes.map((p) => (takenNs > 0 ? p.weightNs : p.samples)));
	return whole > 0 && !selects ? all / whole : 0;
}

function gilHeldOf(mode: string, threads: number, { share, halfWidth }: StateFigure): Statistics["gilHeld"] {
	if (threads <= 0 || mode !== "wall") return null;
	return { share: Math.min(1, share * threads), halfWidth: halfWidth * threads };
}

export interface Asked extends Selected {
	readonly filter: Filter;
	/** Samples are left out for what they show: then ticks are not the whole of what is left. */
	readonly selects: boolean;
}

export function* addingStatistics(asked: Asked): Steps<Statistics> {
	const { profile, sieve, shape } = asked;
	const { states, samples, weight, byQuality } = yield* count(profile, sieve, shape);
	const threads: ThreadFigures[] = [];
	const whole = stateUnit(profile) === "time" ? weight : samples;
	samples.forEach((n, thread) => {
		if (n === 0) return;
		threads.push({
			thread, samples: n, weightNs: weight[thread]!, states: named(states, thread, whole[thread]!),
		});
	});
	const ran = ({ thread, states: { onCpu } }: ThreadFigures) => onCpu * whole[thread]!;
	threads.sort((a, b) => ran(b) - ran(a) || b.samples - a.samples || a.thread - b.thread);
	const all = sum(samples);
	const overall = yield* overallStates(asked);
	const processes = processFigures(profile, threads);
	const recording = recordingOf(profile, sieve.range);
	const { durationNs, stoppedNs, profilerCpuNs } = recording;
	return {
		samples: all,
		weightNs: sum(weight),
		byQuality,
		states: overall,
		gilHeld: gilHeldOf(profile.meta.mode, threadsAtOnce(asked, recording, processes), overall.hasGil),
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
