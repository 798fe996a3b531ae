// SPDX-License-Identifier: Apache-2.0
/* The rows of the timeline: first all threads together, then each thread by process, the busiest first. Those beyond a
 * bearable number share the last row. */

import type { HeatRow } from "../canvas/heat";
import { stripKinds, type Profile } from "../data/profile";
import { display } from "../model/names";
import { count } from "../model/numbers";
import type { StripColumns, ThreadStrip } from "../model/strip";

export interface StripRow extends HeatRow {
	key: string;
	kind: "total" | "process" | "thread" | "rest";
	name: string;
	title: string;
	/** Index into meta.threads, or null if the row is not one thread. */
	thread: number | null;
}

const KINDS = stripKinds.length;
const WAITING = stripKinds.indexOf("waiting");
const TOTAL_HEIGHT = 30;
const HEADING_HEIGHT = 20;
/* A name is a button: lower ones are hard to hit. */
const THREAD_HEIGHT = 24;
const MOST_THREADS = 150;
const NAME_LENGTH = 80;

/** How much a thread did: all its samples but those in which it waited. */
function activity(strip: ThreadStrip): number {
	let sum = 0;
	for (let i = 0; i < strip.samples.length; i++) if (i % KINDS !== WAITING) sum += strip.samples[i];
	return sum;
}

function sumOf(strips: readonly ThreadStrip[], length: number): Float64Array {
	const sum = new Float64Array(length);
	for (const { samples } of strips) for (let i = 0; i < length; i++) sum[i] += samples[i];
	return sum;
}

function sharesOf(samples: Float64Array, full: number): Float32Array {
	return Float32Array.from(samples, (n) => n / full);
}

function sumOfColumn(samples: Float64Array, column: number): number {
	let sum = 0;
	for (let kind = 0; kind < KINDS; kind++) sum += samples[column + kind];
	return sum;
}

/** Sized by the busiest column; threads that wait would only hide it. */
function totalRow(strips: readonly ThreadStrip[], length: number): StripRow {
	const sum = sumOf(strips, length);
	let most = 0;
	for (let column = 0; column < length; column += KINDS) {
		sum[column + WAITING] = 0;
		most = Math.max(most, sumOfColumn(sum, column));
	}
	return {
		key: "total",
		kind: "total",
		name: "all threads",
		title: "What all threads together did, without waiting",
		thread: null,
		top: 0,
		height: TOTAL_HEIGHT,
		shares: sharesOf(sum, most || 1),
	};
}

function threadRow(profile: Profile, strip: ThreadStrip, full: number): StripRow {
	const thread = profile.meta.threads[strip.thread];
	const name = display(thread.name.slice(0, NAME_LENGTH)) || `thread ${thread.tid}`;
	const samples = count(thread.samples);
	return {
		key: `t${strip.thread}`,
		kind: "thread",
		name,
		title: `${name}, thread ${thread.tid} of process ${thread.pid}: ${samples} samples. Only this one.`,
		thread: strip.thread,
		top: 0,
		height: THREAD_HEIGHT,
		shares: sharesOf(strip.samples, full),
	};
}

function processRow(profile: Profile, index: number): StripRow {
	const process = profile.meta.processes[index];
	const name = `${display(process.name.slice(0, NAME_LENGTH))} ${process.pid}`;
	return {
		key: `p${index}`,
		kind: "process",
		name,
		title: display(process.program.slice(0, NAME_LENGTH * 4)),
		thread: null,
		top: 0,
		height: HEADING_HEIGHT,
		shares: new Float32Array(0),
	};
}

function restRow(strips: readonly ThreadStrip[], length: number, full: number): StripRow {
	const name = `${count(strips.length)} more thread${strips.length === 1 ? "" : "s"}`;
	return {
		key: "rest",
		kind: "rest",
		name,
		title: `${name} that did less, on average`,
		thread: null,
		top: 0,
		height: THREAD_HEIGHT,
		shares: sharesOf(sumOf(strips, length), full * strips.length),
	};
}

/** Threads of one process stay together, in the place of its busiest. */
function byProcess(profile: Profile, strips: readonly ThreadStrip[]): Map<number, ThreadStrip[]> {
	const groups = new Map<number, ThreadStrip[]>();
	for (const strip of strips) {
		const process = profile.meta.threads[strip.thread].process;
		const group = groups.get(process);
		if (group) group.push(strip);
		else groups.set(process, [strip]);
	}
	return groups;
}

/** Samples that the busiest column has, where it is not known how many there could be. */
function mostInColumn(strips: readonly ThreadStrip[], length: number): number {
	let most = 0;
	for (const { samples } of strips) {
		for (let column = 0; column < length; column += KINDS) most = Math.max(most, sumOfColumn(samples, column));
	}
	return most || 1;
}

export function stripRows(profile: Profile, { threads, full }: StripColumns, columns: number): StripRow[] {
	const length = columns * KINDS;
	const whole = full > 0 ? full : mostInColumn(threads, length);
	const busiest = threads.map((strip) => ({ strip, activity: activity(strip) }))
		.sort((a, b) => b.activity - a.activity)
		.map(({ strip }) => strip);
	const rest = busiest.slice(MOST_THREADS);
	const groups = byProcess(profile, busiest.slice(0, MOST_THREADS));
	const rows = [totalRow(threads, length)];
	for (const [process, group] of groups) {
		if (groups.size > 1) rows.push(processRow(profile, process));
		rows.push(...group.map((strip) => threadRow(profile, strip, whole)));
	}
	if (rest.length > 0) rows.push(restRow(rest, length, whole));
	return stacked(rows);
}

/** Below the first row, which stands by itself. */
function stacked(rows: StripRow[]): StripRow[] {
	let top = 0;
	for (const row of rows.slice(1)) {
		row.top = top;
		top += row.height;
	}
	return rows;
}
