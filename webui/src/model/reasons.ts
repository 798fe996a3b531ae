// SPDX-License-Identifier: Apache-2.0
// For what threads waited. Layer model; pure.
import { State, stateKinds } from "../data/profile";
import type { Steps } from "../data/steps";
import { Reason, reasons } from "../data/words";
import { addingBatches, halfWidths, type Selected } from "./batches";
import type { Unit } from "./filter";

const shift = 8;

/** Neither running nor unknown. */
export function waits(state: number): boolean {
	return (state & (State.onCpu | State.unknown)) === 0;
}

/** Ready, and without a CPU. */
function isReady(state: number): boolean {
	return (state & (State.onCpu | State.unknown)) === State.onCpu && state >> shift === Reason.cpu;
}

/** For what a thread in that state waited; unknown of one that did not. What a newer plumb knows is another one. */
export function reasonOf(state: number): number {
	if (!waits(state)) return isReady(state) ? Reason.cpu : Reason.unknown;
	if (state & State.wantsGil) return Reason.gil;
	const reason = state >> shift;
	if (reason === Reason.gil) return Reason.unknown;
	return reason < reasons.length ? reason : Reason.other;
}

/** `asked` is a bit of states; 0: that it waits; from 256 on: 256 times the reason of its wait. */
export function hasState(state: number, asked: number): boolean {
	if (asked >> shift) return reasonOf(state) === asked >> shift;
	return asked ? (state & asked) !== 0 : waits(state);
}

export interface WaitFigure {
	readonly text: string;
	readonly samples: number;
	/** Of all. */
	readonly share: number;
	readonly halfWidth: number;
}

function rowOf(state: number): number {
	return waits(state) || isReady(state) ? 1 << reasonOf(state) : 0;
}

/** What was waited for, the most first; empty if nothing but the GIL is known. */
export function* addingWaits(selected: Selected, unit: Unit): Steps<readonly WaitFigure[]> {
	const rows = Uint32Array.from({ length: stateKinds }, (_, i) => rowOf(i >> 2));
	const batches = yield* addingBatches(selected, unit, reasons.length, { byState: rows });
	const widths = halfWidths(batches);
	const sum = (values: Float64Array) => values.reduce((all, one) => all + one, 0);
	const whole = sum(batches.all);
	const figures = reasons.map(({ text }, i) => {
		const share = whole > 0 ? sum(batches.hits[i]!) / whole : 0;
		return { text, samples: batches.rowSamples[i]!, share, halfWidth: widths[i]! };
	});
	if (!figures.some(({ samples }, i) => samples > 0 && i > Reason.gil)) return [];
	return figures.filter(({ samples }) => samples > 0).sort((a, b) => b.share - a.share);
}
