// SPDX-License-Identifier: Apache-2.0
// The timeline for a given width. Layer model; pure.
import type { Meta, Profile } from "../data/profile";
import { stripKinds } from "../data/profile";

/** How far apart the samples of a thread are meant to be: the period, or what became of it where the profiler had to
 * hold a limit. 0: not known. */
export function tickNs({ period_ns: asked, overhead }: Meta): number {
	const hz = overhead.lowered_to_hz;
	return asked > 0 && hz ? Math.max(asked, 1e9 / hz) : asked;
}

export interface ThreadStrip {
	/** Index into meta.threads. */
	readonly thread: number;
	/** Samples of kind k in column c: samples[c * stripKinds.length + k]. */
	readonly samples: Float64Array;
}

export interface StripColumns {
	/** Threads that pass, in the order of the profile. */
	readonly threads: readonly ThreadStrip[];
	/** Samples that a thread has in a column if it was sampled at every tick; 0: not known. */
	readonly full: number;
}

/** Spread the samples of a run over the columns that its bin covers, so that no stripes appear where bins and columns
 * do not fit each other. */
function spread(into: Float64Array, samples: Float64Array, run: number, from: number, to: number): void {
	const kinds = stripKinds.length;
	const columns = into.length / kinds;
	const width = to - from;
	for (let column = Math.max(0, Math.floor(from)); column < to && column < columns; column++) {
		const part = (Math.min(to, column + 1) - Math.max(from, column)) / width;
		for (let k = 0; k < kinds; k++) into[column * kinds + k]! += samples[run * kinds + k]! * part;
	}
}

/** `threads`: by thread, 1 passes. From and to in nanoseconds since the start. */
export function stripColumns(
	profile: Profile,
	threads: Uint8Array,
	fromNs: number,
	toNs: number,
	columns: number,
): StripColumns {
	const { start, bin, samples, binNs } = profile.strip;
	const columnNs = (toNs - fromNs) / columns;
	const shown: ThreadStrip[] = [];
	for (let thread = 0; thread < threads.length; thread++) {
		if (!threads[thread]) continue;
		const into = new Float64Array(columns * stripKinds.length);
		for (let run = start[thread]!; run < start[thread + 1]!; run++) {
			const from = (bin[run]! * binNs - fromNs) / columnNs;
			spread(into, samples, run, from, from + binNs / columnNs);
		}
		shown.push({ thread, samples: into });
	}
	const tick = tickNs(profile.meta);
	return { threads: shown, full: tick > 0 ? columnNs / tick : 0 };
}
