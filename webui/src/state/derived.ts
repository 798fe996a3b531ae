// SPDX-License-Identifier: Apache-2.0
// From the state to what is shown. Everything is made when it is asked for, and kept until a part of the state that it
// was made from changes: a brush over the timeline leaves the shapes of trees alone, a search leaves everything alone.
// Layer state; no DOM.
import type { DiffRow, Profile, Report } from "../data/profile";
import { activities, stateKinds, stripKinds } from "../data/profile";
import { type Steps, type Work, workOf } from "../data/steps";
import {
	batchesOf, batchingOf, halfWidths, maxRows, nodeBits, rowBits, type Rows, type Selected,
} from "../model/batches";
import { type Blame, blameOf } from "../model/blame";
import { type LockBlame, lockBlameOf } from "../model/locks";
import { differences, type Side } from "../model/differences";
import {
	type Filter, type PlaceValues, placeValues, restOf, type Sieve, sieveOf, statesWith, type Unit, valuesByClass,
} from "../model/filter";
import type { Figure, Figures } from "../model/figures";
import { folded } from "../model/folded";
import { type FunctionRows, functionRows } from "../model/functions";
import { calleesOf, callersIn, inverting } from "../model/grouped";
import {
	expressionsOf, fileFigures, type FileFigures, type FileLines, lineCallees, lineCallers, lineTable,
	locationsByLine, locationValues, opcodesOf,
} from "../model/lines";
import { type WaitFigure, waitFigures } from "../model/reasons";
import { matchedValue, matcher } from "../model/search";
import { type FoldedShape, shaping } from "../model/shape";
import { stateUnit, type Statistics, statisticsOf } from "../model/statistics";
import { stripColumns, type StripColumns } from "../model/strip";
import { type Chart, chartOf } from "../model/chart";
import { type Moment, momentAt, type Moments, momentsOf, ranColumns } from "../model/moments";
import { leavesOut } from "../model/transform";
import { type Shape, type Tree, treeOf, wholeOf } from "../model/tree";
import { memory, type Memory } from "./memory";
import type { State } from "./state";

export type { Figure, Figures, FileLines };

export interface Shown {
	readonly profile: Profile;
	/** What is applied of the range of time that is asked for; null: all of the time counts. */
	readonly range: Filter["time"];
	/** Everything that passes, in the unit of the trees: what shares are shares of. */
	readonly whole: number;
	readonly samples: number;
	readonly weightNs: number;
	/** Left out because they did nothing all along. */
	readonly idleThreads: number;
	/** Makes what the chosen view asks for first, step by step, where that takes long. */
	ahead(): Steps<void>;
	/** Makes what is told of a function. */
	aheadOf(fn: number): Steps<void>;
	/** Functions of start-up frames that are folded; rows of the function table. */
	foldedFunctions(): readonly number[];
	folded(): number;
	tree(): Tree;
	inverted(): Tree;
	/** What the flame graph and the call tree show. */
	shownTree(): Tree;
	callers(fn: number): Tree;
	callees(fn: number): Tree;
	/** Functions, or lines, as the state says. Start-up frames are not folded here: figures are those of a report. */
	rows(): FunctionRows;
	functionRows(): FunctionRows;
	lineRows(): FunctionRows;
	/** Half widths of the shares of these rows of `rows()`, in their order. */
	rowHalfWidths(rows: ArrayLike<number>): { readonly self: readonly number[]; readonly total: readonly number[] };
	/** Of a node of a tree that was got from here. */
	figures(tree: Tree, node: number): Figures;
	functionFigures(fn: number): Figures;
	/** What the function has itself by what the thread did, in the order of `stripKinds`: time, as shares of states
	 * are of time, or samples where they are not. */
	functionStates(fn: number): readonly number[];
	/** Parts of `self` by node, for each state in the order of `stripKinds`; zeros in trees that do not end in
	 * innermost frames. */
	leafStates(tree: Tree): readonly Float64Array[];
	/** `rows`: by row of the function table, null: nothing is searched for. `share` of what passes. */
	search(): { readonly rows: Uint8Array | null; readonly share: number; readonly error: string | null };
	statistics(): Statistics;
	/** What was waited for, the most first; empty if that is not known. */
	waits(): readonly WaitFigure[];
	/** Who held the GIL while what passes waited for it. */
	blame(): Blame | null;
	/** For which locks it waited, and who held them. */
	lockBlame(): LockBlame | null;
	sourceFiles(): readonly FileFigures[];
	sourceLines(file: number): FileLines;
	strip(fromNs: number, toNs: number, columns: number): StripColumns;
	/** What a thread did from one instant to another, as a node of `tree()`. */
	momentAt(thread: number, span: readonly [number, number]): Moment | null;
	/** When a function was on the stack, by thread and column of the timeline: shares of `full` samples. */
	ran(fn: number, durationNs: number, columns: number, full: number): ReadonlyMap<number, Float32Array>;
	/** The stacks of a thread in the order of time; nodes are those of `tree()`. */
	chart(thread: number): Chart;
	/** Functions by how their shares differ from those of all that the range of time leaves out (where there is none,
	 * of the threads that are left out); null: neither is chosen. */
	differences(): readonly DiffRow[] | null;
	/** What passes, as `plumb report -f collapsed` writes it: with idle threads and start-up frames. */
	collapsed(): string;
}

/** The parts of the state, one after the other, and what is made of them. */
interface Pipeline {
	readonly profile: Profile;
	readonly state: State;
	readonly keep: Memory;
	/** Instead of what the filter of the state lets through. */
	readonly passes?: Sieve;
}

function sieve({ profile, state: { filter: f }, keep, passes }: Pipeline): Sieve {
	if (passes) return passes;
	const parts = [profile, f.processes, f.threads, f.time?.[0], f.time?.[1], f.states, f.idle];
	return keep("sieve", parts, () => sieveOf(profile, f));
}

function places(p: Pipeline, unit: Unit): PlaceValues {
	const passes = sieve(p);
	return p.keep(`places ${unit}`, [passes], () => placeValues(p.profile, passes, unit));
}

function shapeWork({ profile, state, keep }: Pipeline, by: State["by"], startup: boolean): Work<FoldedShape> {
	const { transforms } = state;
	const { kinds, modules, labels } = state.filter;
	return keep(`shape ${by} ${String(startup)}`, [profile, transforms, kinds, modules, labels], () =>
		workOf(shaping(profile, { by, startup, transforms, kinds, modules, labels })),
	);
}

function shape(p: Pipeline, by: State["by"], startup: boolean): FoldedShape {
	return shapeWork(p, by, startup).result();
}

function tree(p: Pipeline, by: State["by"], startup: boolean): Tree {
	const form = shape(p, by, startup);
	const values = places(p, p.state.unit);
	return p.keep(`tree ${by} ${String(startup)}`, [form, values], () => treeOf(form, values));
}

function mainShape(p: Pipeline): FoldedShape {
	return shape(p, p.state.by, p.state.startup);
}

function moments({ profile, keep }: Pipeline): Moments {
	return keep("moments", [profile], () => momentsOf(profile.cells, profile.meta.threads.length));
}

function chart(p: Pipeline, thread: number): Chart {
	const [form, passes] = [mainShape(p), sieve(p)];
	return p.keep("chart", [form, passes, thread], () =>
		chartOf({ profile: p.profile, sieve: passes, shape: form, moments: moments(p), thread }),
	);
}

function mainTree(p: Pipeline): Tree {
	return tree(p, p.state.by, p.state.startup);
}

/** The function whose root is zoomed into, in an inverted tree. */
function zoomedRoot(p: Pipeline, from: Tree): number {
	const { zoom, inverted: isInverted } = p.state;
	const node = zoom && isInverted ? (from.nodeOf[zoom.base] ?? -1) : -1;
	return node < 0 ? -1 : from.fn[node]!;
}

function invertedWork(p: Pipeline): Work<Tree> {
	const from = mainTree(p);
	const root = zoomedRoot(p, from);
	return p.keep("inverted", [from, root], () => workOf(inverting(from, root)));
}

function callersWork(p: Pipeline, fn: number): Work<Tree> {
	const from = mainTree(p);
	return p.keep("callers", [from, fn], () => workOf(callersIn(from, fn)));
}

function callees(p: Pipeline, fn: number): Tree {
	const from = mainTree(p);
	return p.keep("callees", [from, fn], () => calleesOf(from, fn));
}

function whole(p: Pipeline, unit: Unit): number {
	if (unit === "time" && !p.profile.cells.weight) return whole(p, "samples") * p.profile.meta.period_ns;
	const form = shape(p, "function", false);
	const values = places(p, unit);
	return p.keep(`whole ${unit}`, [form, values], () => wholeOf(form, values));
}

/** What tables and cards count: start-up frames are not folded there. */
function selected(p: Pipeline): Selected {
	const [passes, form] = [sieve(p), shape(p, "function", false)];
	return p.keep("selected", [passes, form], () => ({
		profile: p.profile,
		sieve: passes,
		shape: form,
		batching: batchingOf(p.profile, passes, form),
	}));
}

/** Samples are left out for what they show. */
function selects({ filter, transforms }: State): boolean {
	const { states, modules, labels } = filter;
	return states !== 0 || modules.length > 0 || labels.length > 0 || transforms.some(leavesOut);
}

function statistics(p: Pipeline): Statistics {
	const from = selected(p);
	const { state, profile } = p;
	return p.keep("statistics", [from], () =>
		statisticsOf({ ...from, filter: state.filter, selects: selects(state) || profile.meta.selected }),
	);
}

function waits(p: Pipeline): readonly WaitFigure[] {
	const from = selected(p);
	return p.keep("waits", [from], () => waitFigures(from, stateUnit(p.profile)));
}

/** Figures of some rows: values, samples and intervals out of one pass over the cells. */
function figuresOf(p: Pipeline, count: number, rows: Rows): Figure[] {
	const { unit } = p.state;
	const batches = batchesOf(selected(p), unit, count, rows);
	const widths = halfWidths(batches);
	const scale = unit === "time" && !p.profile.cells.weight ? p.profile.meta.period_ns : 1;
	const all = whole(p, unit);
	return batches.hits.map((hit, row) => {
		const value = hit.reduce((sum, n) => sum + n, 0) * scale;
		const share = all > 0 ? value / all : 0;
		return { value, samples: batches.rowSamples[row]!, share, halfWidth: widths[row]! };
	});
}

function pair([self, total]: readonly Figure[]): Figures {
	return { self: self!, total: total! };
}

function ownerFigures(p: Pipeline, form: Shape, isOwn: (node: number) => boolean): Figures {
	return pair(figuresOf(p, 2, { byPlace: rowBits(form, (node) => (isOwn(node) ? 0 : -1)) }));
}

function functionFigures(p: Pipeline, fn: number): Figures {
	const form = shape(p, "function", false);
	const known = p.keep("function figures", [form, sieve(p), p.state.unit], () => new Map<number, Figures>());
	const figures = known.get(fn) ?? ownerFigures(p, form, (node) => form.fn[node] === fn);
	known.set(fn, figures);
	return figures;
}

function rowsOf(p: Pipeline, by: State["by"]): FunctionRows {
	const from = tree(p, by, false);
	return p.keep(`rows ${by}`, [from], () => functionRows(p.profile, from));
}

/** By row, NaN: not known yet. */
function knownWidths(p: Pipeline): { self: Float64Array; total: Float64Array } {
	const rows = rowsOf(p, p.state.by);
	return p.keep("widths", [rows], () => ({
		self: new Float64Array(rows.count).fill(NaN),
		total: new Float64Array(rows.count).fill(NaN),
	}));
}

function findWidths(p: Pipeline, wanted: readonly number[]): void {
	const rows = rowsOf(p, p.state.by);
	const known = knownWidths(p);
	const form = shape(p, p.state.by, false);
	const keyOf = (fn: number, line: number) => fn * 2 ** 32 + line;
	const nth = new Map(wanted.map((row, i) => [keyOf(rows.fn[row]!, rows.line[row]!), i]));
	const functions = new Uint8Array(p.profile.functions.rows);
	for (const row of wanted) functions[rows.fn[row]!] = 1;
	const rowOf = (node: number) => {
		const fn = form.fn[node]!;
		return functions[fn] ? (nth.get(keyOf(fn, form.line[node]!)) ?? -1) : -1;
	};
	const figures = figuresOf(p, 2 * wanted.length, { byPlace: rowBits(form, rowOf) });
	wanted.forEach((row, i) => {
		known.self[row] = figures[2 * i]!.halfWidth;
		known.total[row] = figures[2 * i + 1]!.halfWidth;
	});
}

function rowHalfWidths(p: Pipeline, rows: ArrayLike<number>): { self: number[]; total: number[] } {
	const known = knownWidths(p);
	const all = Array.from(rows);
	const unknown = all.filter((row) => Number.isNaN(known.self[row]));
	for (let i = 0; i < unknown.length; i += maxRows) findWidths(p, unknown.slice(i, i + maxRows));
	return { self: all.map((row) => known.self[row]!), total: all.map((row) => known.total[row]!) };
}

/** Sets of states in the order of `stripKinds`: each state in the first one, by rank, that is true of it. */
function exclusiveStates(passes: Sieve): Uint8Array[] {
	const left = { ...passes, states: passes.states.slice() };
	const sets: Uint8Array[] = [];
	for (const activity of [...activities].sort((a, b) => a.rank - b.rank)) {
		const taken = activity.state ? statesWith(left, activity.state) : left.states;
		left.states = left.states.map((is, i) => (taken[i] ? 0 : is));
		sets[activities.indexOf(activity)] = taken;
	}
	return sets;
}

/** Sets of states as classes, from 1; 0: in none. */
function classesOf(sets: readonly Uint8Array[]): { of: Uint8Array; count: number } {
	const of = new Uint8Array(stateKinds);
	sets.forEach((set, kind) => {
		for (let i = 0; i < set.length; i++) if (set[i]) of[i] = kind + 1;
	});
	return { of, count: sets.length };
}

/** The node of each place whose samples are shown, else below 0. */
function shownNodes({ nodeOf, out }: Shape): Int32Array {
	return out ? nodeOf.map((node, l) => (out[l] ? -1 : node)) : nodeOf;
}

function functionStates(p: Pipeline, fn: number): number[] {
	const form = shape(p, "function", false);
	const passes = sieve(p);
	const classes = p.keep("states", [passes], () => classesOf(exclusiveStates(passes)));
	const own = shownNodes(form).slice();
	for (let l = 0; l < own.length; l++) own[l] = own[l]! >= 0 && form.fn[own[l]!] === fn ? 0 : -1;
	const values = valuesByClass(p.profile, passes, stateUnit(p.profile), classes, { of: own, count: 1 });
	return values.map(([value]) => value!);
}

/** By `state << 2 | quality`: whether there is such a sample. */
function statesThere({ profile, keep }: Pipeline): Uint8Array {
	return keep("states there", [profile], () => {
		const there = new Uint8Array(stateKinds);
		for (const state of profile.cells.state) there[state] = 1;
		return there;
	});
}

function leafStates(p: Pipeline, of: Tree): readonly Float64Array[] {
	if (of !== mainTree(p)) {
		const none = p.keep("no states", [of], () => new Float64Array(of.count));
		return stripKinds.map(() => none);
	}
	const passes = sieve(p);
	return p.keep("leaf states", [of, passes], () => {
		const there = statesThere(p);
		const sets = exclusiveStates(passes);
		/* A column of zeros is large, and most states are rare. */
		const used = sets.filter((set) => set.some((is, i) => is && there[i]));
		const to = { of: shownNodes(of), count: of.count };
		const values = valuesByClass(p.profile, passes, p.state.unit, classesOf(used), to);
		const none = new Float64Array(used.length < sets.length ? of.count : 0);
		return sets.map((set) => values[used.indexOf(set)] ?? none);
	});
}

function search(p: Pipeline): { rows: Uint8Array | null; share: number; error: string | null } {
	const { search: text, regex } = p.state;
	const matches = p.keep("matches", [p.profile, text, regex], () => matcher(p.profile, text, regex));
	const from = mainTree(p);
	return p.keep("search", [matches, from], () => ({
		...matches,
		share: matches.rows && from.whole > 0 ? matchedValue(from, matches.rows) / from.whole : 0,
	}));
}

function sourceLines(p: Pipeline, file: number): FileLines {
	const from = tree(p, "line", false);
	return p.keep("source", [from, file], () => {
		const { profile } = p;
		const table = lineTable(profile, from, file);
		const byLine = locationsByLine(profile, file);
		const on = (row: number) => byLine.get(table.lines[row]!) ?? [];
		const self = locationValues(profile, from, places(p, p.state.unit));
		const samples = locationValues(profile, from, places(p, "samples"));
		return {
			lines: table.lines,
			self: table.self,
			total: table.total,
			expressions: (row) => expressionsOf(profile, on(row), self),
			callers: (row) => lineCallers(from, table, row),
			callees: (row) => lineCallees(from, table, row),
			opcodes: (row) => opcodesOf(profile, on(row), samples),
			figures: (row) => ownerFigures(p, from, (node) => table.rowOf[node] === row),
		};
	});
}

function sourceFiles(p: Pipeline): readonly FileFigures[] {
	const from = tree(p, "line", false);
	return p.keep("files", [from], () => fileFigures(p.profile, from));
}

/** Trees with fewer nodes are made in no time, so nothing is made ahead. */
const largeTree = 50_000;

function* stepsOf(work: Work<unknown>): Steps<void> {
	while (work.step()) yield;
}

function* stepsOfTree(p: Pipeline, by: State["by"], startup: boolean): Steps<void> {
	yield* stepsOf(shapeWork(p, by, startup));
	places(p, p.state.unit);
	yield;
	tree(p, by, startup);
	yield;
}

function* stepsOfView(p: Pipeline): Steps<void> {
	const { view, inverted: isInverted, selected: fn } = p.state;
	if (isInverted && (view === "flame" || view === "tree")) yield* stepsOf(invertedWork(p));
	if (view === "flame" && !isInverted) leafStates(p, mainTree(p));
	if (view === "sandwich" && fn !== null) {
		yield* stepsOf(callersWork(p, fn));
		callees(p, fn);
	}
	if (view === "source") {
		yield* stepsOfTree(p, "line", false);
		sourceFiles(p);
	}
	yield;
}

function* ahead(p: Pipeline): Steps<void> {
	const { by, startup } = p.state;
	if (p.profile.tree.places < largeTree) return;
	yield* stepsOfTree(p, "function", false);
	rowsOf(p, "function");
	yield;
	yield* stepsOfTree(p, by, startup);
	yield* stepsOfView(p);
}

function* aheadOf(p: Pipeline, fn: number): Steps<void> {
	if (p.profile.tree.places < largeTree) return;
	functionFigures(p, fn);
	yield;
	functionStates(p, fn);
	yield;
	yield* stepsOfTree(p, "line", false);
	rowsOf(p, "line");
	yield;
	yield* stepsOf(callersWork(p, fn));
	callees(p, fn);
}

/** What passes where threads are not left out for being idle. */
function withIdle({ profile, state: { filter }, keep }: Pipeline): Sieve {
	const { processes, threads, time, states, idle } = filter;
	const parts = [profile, processes, threads, time?.[0], time?.[1], states, idle];
	return keep("with idle", parts, () => sieveOf(profile, idle === "hide" ? { ...filter, idle: "keep" } : filter));
}

/** Who waits for a lock is not idle, however little it ran. */
function lockBlame(p: Pipeline): LockBlame | null {
	const [from, passes] = [selected(p), withIdle(p)];
	return p.keep("lock blame", [from, passes], () => lockBlameOf({ ...from, sieve: passes }));
}

function collapsed(p: Pipeline): string {
	const { transforms, by } = p.state;
	const passes = withIdle(p);
	const whole = !passes.range && !selects(p.state);
	return folded(p.profile, passes, shape(p, by, false), whole && transforms.length === 0);
}

function sideOf(p: Pipeline): Side {
	const rows = rowsOf(p, "function");
	const self = new Float64Array(p.profile.functions.rows);
	const total = new Float64Array(p.profile.functions.rows);
	for (let row = 0; row < rows.count; row++) {
		self[rows.fn[row]!] = rows.self[row]!;
		total[rows.fn[row]!] = rows.total[row]!;
	}
	return { selected: selected(p), self, total, whole: whole(p, p.state.unit) };
}

function differencesOf(p: Pipeline): readonly DiffRow[] | null {
	const { profile, state, keep } = p;
	const passes = keep("rest", [profile, state.filter], () => restOf(profile, state.filter));
	if (!passes) return null;
	const [rows, unit] = [rowsOf(p, "function"), state.unit];
	const rest: Pipeline = { ...p, passes, keep: keep("of the rest", [profile], memory) };
	return keep("differences", [rows, passes], () => differences(profile, sideOf(p), sideOf(rest), unit));
}

function shownOf(p: Pipeline): Shown {
	const { profile, state, keep } = p;
	return {
		profile,
		get range() {
			return sieve(p).range;
		},
		get whole() {
			return whole(p, state.unit);
		},
		get samples() {
			return whole(p, "samples");
		},
		get weightNs() {
			return whole(p, "time");
		},
		get idleThreads() {
			return sieve(p).idleHidden;
		},
		ahead: () => ahead(p),
		aheadOf: (fn) => aheadOf(p, fn),
		foldedFunctions: () => shape(p, state.by, state.startup).folded,
		folded: () => shape(p, state.by, state.startup).folded.length,
		tree: () => mainTree(p),
		inverted: () => invertedWork(p).result(),
		shownTree: () => (state.inverted ? invertedWork(p).result() : mainTree(p)),
		callers: (fn) => callersWork(p, fn).result(),
		callees: (fn) => callees(p, fn),
		rows: () => rowsOf(p, state.by),
		functionRows: () => rowsOf(p, "function"),
		lineRows: () => rowsOf(p, "line"),
		rowHalfWidths: (rows) => rowHalfWidths(p, rows),
		figures: (of, node) => pair(figuresOf(p, 2, { byPlace: nodeBits(of, node) })),
		functionFigures: (fn) => functionFigures(p, fn),
		functionStates: (fn) => functionStates(p, fn),
		leafStates: (of) => leafStates(p, of),
		search: () => search(p),
		statistics: () => statistics(p),
		waits: () => waits(p),
		blame: () => keep("blame", [selected(p)], () => blameOf(selected(p))),
		lockBlame: () => lockBlame(p),
		sourceFiles: () => sourceFiles(p),
		sourceLines: (file) => sourceLines(p, file),
		strip: (fromNs, toNs, columns) => stripColumns(profile, sieve(p).threads, fromNs, toNs, columns),
		momentAt: (thread, span) =>
			momentAt({ profile, sieve: sieve(p), shape: mainShape(p) }, moments(p), thread, span),
		ran: (fn, durationNs, columns, full) => {
			const form = shape(p, "function", false);
			const holds = rowBits(form, (node) => (form.fn[node] === fn ? 0 : -1));
			return ranColumns(profile, sieve(p), holds, { durationNs, columns, full });
		},
		chart: (thread) => chart(p, thread),
		differences: () => differencesOf(p),
		collapsed: () => collapsed(p),
	};
}

export function profileOf(report: Report, state: State): Profile {
	const { profiles } = report;
	return profiles[state.profile ?? profiles.length - 1] ?? profiles[profiles.length - 1]!;
}

export function createDerived(report: Report): (state: State) => Shown {
	const keep = memory();
	return (state) =>
		keep("shown", [state], () => shownOf({ profile: profileOf(report, state), state, keep }));
}
