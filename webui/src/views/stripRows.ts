// SPDX-License-Identifier: Apache-2.0
/* The rows of the timeline: first all threads together, then each thread by process, parents before their children and
 * the main thread before the busiest. A process of one thread is one row. Many threads of one kind share a row that
 * opens, and those beyond a bearable number share the last one. */

import type { HeatRow } from "../canvas/heat";
import { stripKinds, type Profile } from "../data/profile";
import { display } from "../model/names";
import { count } from "../model/numbers";
import { parentsFirst } from "../model/processes";
import type { StripColumns, ThreadStrip } from "../model/strip";

export interface StripRow extends HeatRow {
	key: string;
	kind: "total" | "process" | "group" | "thread" | "rest";
	name: string;
	title: string;
	/** Index into meta.threads, or null if the row is not one thread. */
	thread: number | null;
	/** All that it is made of. */
	threads: readonly number[];
	/** Of a group: its threads have rows of their own below it. */
	open: boolean;
}

const KINDS = stripKinds.length;
const WAITING = stripKinds.indexOf("waiting");
const TOTAL_HEIGHT = 30;
const HEADING_HEIGHT = 20;
/* A name is a button: lower ones are hard to hit. */
const THREAD_HEIGHT = 24;
/** So many threads of a kind share a row. */
const GROUPED = 4;
const MOST_UNITS = 150;
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

function threadsOf(strips: readonly ThreadStrip[]): number[] {
	return strips.map(({ thread }) => thread);
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
		threads: threadsOf(strips),
		open: false,
		top: 0,
		height: TOTAL_HEIGHT,
		shares: sharesOf(sum, most || 1),
		gaps: null,
	};
}

/** Columns between its first and its last sample in which it has less than half of the samples that it should have. */
function gapsOf(samples: Float64Array, full: number): Uint8Array {
	const gaps = Uint8Array.from({ length: samples.length / KINDS }, (_, column) =>
		sumOfColumn(samples, column * KINDS) < full / 2 ? 1 : 0,
	);
	const is = (column: number): boolean => sumOfColumn(samples, column * KINDS) > 0;
	for (let column = 0; column < gaps.length && !is(column); column++) gaps[column] = 0;
	for (let column = gaps.length - 1; column >= 0 && !is(column); column--) gaps[column] = 0;
	return gaps;
}

/** `full`: samples of a column that is full; 0: not known. */
function threadRow(profile: Profile, strip: ThreadStrip, whole: number, full: number): StripRow {
	const thread = profile.meta.threads[strip.thread];
	const name = display(thread.name.slice(0, NAME_LENGTH)) || `thread ${thread.tid}`;
	const samples = count(thread.samples);
	return {
		key: `t${strip.thread}`,
		kind: "thread",
		name,
		title: `${name}, thread ${thread.tid} of process ${thread.pid}: ${samples} samples. Only this one.`,
		thread: strip.thread,
		threads: [strip.thread],
		open: false,
		top: 0,
		height: THREAD_HEIGHT,
		shares: sharesOf(strip.samples, whole),
		gaps: full > 0 && profile.meta.mode === "wall" ? gapsOf(strip.samples, full) : null,
	};
}

function processName(profile: Profile, index: number): string {
	const { name, pid } = profile.meta.processes[index];
	return `${display(name.slice(0, NAME_LENGTH))} ${pid}`;
}

function processRow(profile: Profile, index: number): StripRow {
	const process = profile.meta.processes[index];
	return {
		key: `p${index}`,
		kind: "process",
		name: processName(profile, index),
		title: display(process.program.slice(0, NAME_LENGTH * 4)),
		thread: null,
		threads: [],
		open: false,
		top: 0,
		height: HEADING_HEIGHT,
		shares: new Float32Array(0),
		gaps: null,
	};
}

/** Several threads, on average. */
function averageRow(
	strips: readonly ThreadStrip[],
	length: number,
	whole: number,
	text: Pick<StripRow, "key" | "kind" | "name" | "title">,
): StripRow {
	return {
		...text,
		thread: null,
		threads: threadsOf(strips),
		open: false,
		top: 0,
		height: THREAD_HEIGHT,
		shares: sharesOf(sumOf(strips, length), whole * strips.length),
		gaps: null,
	};
}

function restRow(strips: readonly ThreadStrip[], length: number, whole: number): StripRow {
	const name = `${count(strips.length)} more thread${strips.length === 1 ? "" : "s"}`;
	const title = `${name} that did less, on average`;
	return averageRow(strips, length, whole, { key: "rest", kind: "rest", name, title });
}

/** The name without what tells threads of a kind apart: "pool-1_7", "Thread-7 (work)", "Thread-7". */
export function kindOfThread(name: string): string {
	return /^Thread-\d+ \((.+)\)$/.exec(name)?.[1] ?? name.replace(/[-_ ]?\d+$/, "");
}

/** One row of the timeline: a thread, or many of a kind. */
interface Unit {
	readonly key: string;
	readonly process: number;
	/** "": it is one thread. */
	readonly kind: string;
	readonly strips: ThreadStrip[];
}

/** Where the busiest of a kind is, all of it is. */
function unitsOf(profile: Profile, strips: readonly ThreadStrip[]): Unit[] {
	const kindOf = ({ thread }: ThreadStrip): string => {
		const { process, name, main } = profile.meta.threads[thread];
		return main || name === "" ? "" : `${process} ${kindOfThread(name)}`;
	};
	const kinds = new Map<string, ThreadStrip[]>();
	for (const strip of strips) {
		const all = kinds.get(kindOf(strip));
		if (all) all.push(strip);
		else kinds.set(kindOf(strip), [strip]);
	}
	return strips.flatMap((strip): Unit[] => {
		const { process, name } = profile.meta.threads[strip.thread];
		const key = kindOf(strip);
		const all = key === "" ? [] : (kinds.get(key) ?? []);
		if (all.length < GROUPED) return [{ key: `t${strip.thread}`, process, kind: "", strips: [strip] }];
		return all[0] === strip ? [{ key: `g${key}`, process, kind: kindOfThread(name), strips: all }] : [];
	});
}

interface Measure {
	readonly length: number;
	readonly whole: number;
	readonly full: number;
	readonly open: ReadonlySet<string>;
}

function rowsOfUnit(profile: Profile, { key, kind, strips }: Unit, { length, whole, full, open }: Measure): StripRow[] {
	if (kind === "" && strips.length === 1) return [threadRow(profile, strips[0], whole, full)];
	const name = `${display(kind.slice(0, NAME_LENGTH))} ×${strips.length}`;
	const title = `${count(strips.length)} threads, on average. Only these.`;
	const row = averageRow(strips, length, whole, { key, kind: "group", name, title });
	if (!open.has(key)) return [row];
	const shown = strips.slice(0, MOST_UNITS).map((strip) => threadRow(profile, strip, whole, full));
	return [{ ...row, open: true }, ...shown];
}

/** Threads of one process stay together, in the place of its busiest but behind the process that started it. */
function byProcess(profile: Profile, units: readonly Unit[]): [number, Unit[]][] {
	const groups = new Map<number, Unit[]>();
	for (const unit of units) {
		const group = groups.get(unit.process);
		if (group) group.push(unit);
		else groups.set(unit.process, [unit]);
	}
	const isMain = ({ strips }: Unit): number => Number(profile.meta.threads[strips[0].thread].main);
	for (const group of groups.values()) group.sort((a, b) => isMain(b) - isMain(a));
	const order = parentsFirst(profile.meta.processes, [...groups.keys()]);
	return order.map((process) => [process, groups.get(process)!]);
}

/** One of several. */
function rowsOfProcess(profile: Profile, process: number, units: readonly Unit[], measure: Measure): StripRow[] {
	const rows = units.flatMap((unit) => rowsOfUnit(profile, unit, measure));
	const [only] = rows;
	const isAll = rows.length === 1 && only.thread !== null && profile.meta.threads[only.thread].main;
	return isAll ? [{ ...only, name: processName(profile, process) }] : [processRow(profile, process), ...rows];
}

/** Samples that the busiest column has, where it is not known how many there could be. */
function mostInColumn(strips: readonly ThreadStrip[], length: number): number {
	let most = 0;
	for (const { samples } of strips) {
		for (let column = 0; column < length; column += KINDS) most = Math.max(most, sumOfColumn(samples, column));
	}
	return most || 1;
}

/** Where the rate was lowered later on, a column of before has more samples than others, of no more time. */
function levelled(strips: readonly ThreadStrip[], full: number): ThreadStrip[] {
	return strips.map(({ thread, samples }) => {
		const level = samples.slice();
		for (let column = 0; column < level.length; column += KINDS) {
			const sum = sumOfColumn(level, column);
			for (let kind = 0; sum > full && kind < KINDS; kind++) level[column + kind] *= full / sum;
		}
		return { thread, samples: level };
	});
}

/** `open`: keys of the groups whose threads are shown. */
export function stripRows(
	profile: Profile, strip: StripColumns, columns: number, open: ReadonlySet<string> = new Set(),
): StripRow[] {
	const { full } = strip;
	const threads = full > 0 ? levelled(strip.threads, full) : strip.threads;
	const length = columns * KINDS;
	const whole = full > 0 ? full : mostInColumn(threads, length);
	const busiest = threads.map((strip) => ({ strip, activity: activity(strip) }))
		.sort((a, b) => b.activity - a.activity)
		.map(({ strip }) => strip);
	const units = unitsOf(profile, busiest);
	const rest = units.slice(MOST_UNITS).flatMap(({ strips }) => strips);
	const groups = byProcess(profile, units.slice(0, MOST_UNITS));
	const rows = [totalRow(threads, length)];
	const measure = { length, whole, full, open };
	for (const [process, group] of groups) {
		if (groups.length > 1) rows.push(...rowsOfProcess(profile, process, group, measure));
		else rows.push(...group.flatMap((unit) => rowsOfUnit(profile, unit, measure)));
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
