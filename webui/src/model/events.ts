// SPDX-License-Identifier: Apache-2.0
/* What happened at a moment, as marks of the timeline: those that would lie on each other are one. Pure. */

import type { HappenedEvent, Meta } from "../data/profile";
import { eventKinds } from "../data/words";
import { time } from "./numbers";

/** Of a mark that stands for many, so many are told. */
const MOST_TOLD = 8;

export interface EventMark {
	/** Where on the timeline, from 0 to 1. */
	readonly at: number;
	readonly events: readonly HappenedEvent[];
}

interface Chosen {
	readonly processes: readonly number[] | null;
	readonly threads: readonly number[] | null;
}

/** Those of the processes and threads that are chosen; what is of none is of all. */
export function eventsOf({ events = [], processes, threads }: Meta, chosen: Chosen): readonly HappenedEvent[] {
	if (!chosen.processes && !chosen.threads) return events;
	const isIn = (thread: number): boolean =>
		(chosen.threads?.includes(thread) ?? true) &&
		(chosen.processes?.includes(threads[thread]?.process ?? -1) ?? true);
	const pids = new Set(threads.filter((_, i) => isIn(i)).map((thread) => processes[thread.process]?.pid));
	return events.filter(({ pid, thread }) => {
		if (thread !== undefined) return isIn(thread);
		return pid === undefined || pids.has(pid);
	});
}

/** By time; in each of `places` pieces of the timeline at most one. */
export function eventMarks(events: readonly HappenedEvent[], durationNs: number, places: number): readonly EventMark[] {
	const marks = new Map<number, HappenedEvent[]>();
	for (const event of events) {
		if (!(event.at_ns <= durationNs)) continue;
		const place = Math.min(places - 1, Math.floor((event.at_ns / durationNs) * places));
		const there = marks.get(place);
		if (there) there.push(event);
		else marks.set(place, [event]);
	}
	return [...marks.values()].map((there) => ({ at: there[0]!.at_ns / durationNs, events: there }));
}

/** "epoch number=3", "pause for 2.1 s". */
export function eventSaid({ kind, name, duration_ns: lasted, labels = {} }: HappenedEvent): string {
	const what = eventKinds[kind]?.one ?? "other";
	const values = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
	const named = kind === 0 ? [name] : [what, name];
	return [...named, ...values, lasted ? `for ${time(lasted)}` : ""].filter((part) => part !== "").join(" ");
}

export function markSaid({ events }: EventMark): string {
	const lines = events.slice(0, MOST_TOLD).map(eventSaid);
	if (events.length > MOST_TOLD) lines.push(`… ${events.length - MOST_TOLD} more`);
	return lines.join("\n");
}
