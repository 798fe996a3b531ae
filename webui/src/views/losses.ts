// SPDX-License-Identifier: Apache-2.0
/* What keeps the figures from being the whole truth, in sentences; nothing if nothing does. */

import type { Meta } from "../data/profile";
import { count, percent, rate } from "../model/numbers";

function missedShare(meta: Meta): number {
	const { missed, missed_ns } = meta.losses;
	if (missed_ns !== null && meta.duration_ns > 0) return missed_ns / meta.duration_ns;
	return missed + meta.ticks > 0 ? missed / (missed + meta.ticks) : 0;
}

function refused(meta: Meta): string | null {
	const { tracer, rights, filter, other, last } = meta.overhead.stops_refused;
	const times = tracer + rights + filter + other;
	if (times === 0) return null;
	const why = last === null ? "" : ` (${last})`;
	return `A stop was refused ${count(times)} times${why}: some stacks are not proved.`;
}

function lowered(meta: Meta): string | null {
	const { lowered_to_hz, lowered_for, limit, stopped_limit } = meta.overhead;
	const held = lowered_for === "stopped";
	const most = held ? stopped_limit : limit;
	if (!lowered_to_hz || !most) return null;
	const why = held
		? `so that the program was held up for no more than ${percent(most)} of its time`
		: `so that plumb took no more than ${percent(most)} of a core`;
	return `Each thread was sampled at ${rate(lowered_to_hz)}, ${why}.`;
}

export function lostWords(meta: Meta): string[] {
	const { losses } = meta;
	const missed = missedShare(meta);
	const lost = losses.queue + losses.damaged + losses.unreadable;
	const damaged = losses.damaged_parts ?? 0;
	const sentences = [
		meta.complete ? null : "The profiler was killed: up to the last second is missing.",
		lowered(meta),
		missed >= 0.01
			? `${percent(missed)} of the time was missed: the machine was busy or the rate too high.`
			: null,
		lost > 0 ? `${count(lost)} samples were lost.` : null,
		damaged > 0 ? `Damaged parts of the recording were left out: ${count(damaged)}.` : null,
		losses.unseen > 0 ? `${count(losses.unseen)} processes ended unseen.` : null,
		losses.beyond > 0 ? `${count(losses.beyond)} processes or threads were too many to be followed.` : null,
		losses.folded > 0
			? `There were too many different stacks: of ${count(losses.folded)} samples only the outer part is shown.`
			: null,
		losses.task > 0
			? `Who awaits the task was not proved for ${count(losses.task)} samples: they are shown below the event loop.`
			: null,
		losses.native > 0
			? `${count(losses.native)} samples have no native frames: they are shown at their Python function.`
			: null,
		refused(meta),
	];
	return sentences.filter((sentence) => sentence !== null);
}
