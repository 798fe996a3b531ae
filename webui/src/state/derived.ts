// SPDX-License-Identifier: Apache-2.0
// From the state to what is shown. Everything is made when it is asked for, and kept until a part of the state that it
// was made from changes: a brush over the timeline leaves the shapes of trees alone, a search leaves everything alone.
// Layer state; no DOM.
import type { DiffRow, Profile, Report } from "../data/profile";
import { activities, stateKinds, stripKinds } from "../data/profile";
import { finish, type Steps, stepsOf, stride, type Work, workOf } from "../data/steps";
import {
	addingBatches, batching, findingBits, halfWidths, maxRows, nodeBits, type Rows, type Selected, type Whole,
} from "../model/batches";
import { type Blame, findingBlame } from "../model/blame";
import { findingLockBlame, type LockBlame } from "../model/locks";
import { differing, type Side } from "../model/differences";
import {
	addingByClass, addingPlaces, type Filter, type PlaceValues, restOf, type Sieve, sieveOf, statesWith, type Unit,
} from "../model/filter";
import type { Figure, Figures } from "../model/figures";
import { folded } from "../model/folded";
import { addingRows, type FunctionRows, hottestRow } from "../model/functions";
import { calleesIn, callersIn, inverting } from "../model/grouped";
import {
	addingFiles, addingLines, expressionsOf, type FileFigures, type FileLines, firstFile, lineCallees, lineCallers,
	type LineLink, type LineTable, locationsByLine, locationValues, opcodesOf,
} from "../model/lines";
import { addingWaits, type WaitFigure } from "../model/reasons";
import { matchedValue, matcher } from "../model/search";
import { type FoldedShape, shaping } from "../model/shape";
import { addingStatistics, stateUnit, type Statistics } from "../model/statistics";
import { stripColumns, type StripColumns } from "../model/strip";
import { type Chart, charting } from "../model/chart";
import { addingRan, findingMoments, type Moment, momentAt, type Moments } from "../model/moments";
import { leavesOut } from "../model/transform";
import { addingAll, growing, type Shape, type Tree } from "../model/tree";
import { memory, type Memory, memoryOfState } from "./memory";
import type { State } from "./state";

export type { Figure, Figures, FileLines };

/** Columns of the timeline, of which each has `full` samples of a thread that is there. */
export interface Columns {
	readonly durationNs: number;
	readonly columns: number;
	readonly full: number;
}

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
	/** Makes what is told of a function; in views by themselves of rows of `rows()`, of `lineRows()`, of a thread's
	 * chart, of when a function ran, of what differs, of what was waited for. */
	aheadOf(fn: number): Steps<void>;
	aheadOfRows(rows: ArrayLike<number>): Steps<void>;
	/** Makes `functionRows()` and `rows()`, which the flame graph does without. */
	aheadOfTables(): Steps<void>;
	aheadOfStates(fn: number): Steps<void>;
	aheadOfLines(): Steps<void>;
	aheadOfWaits(): Steps<void>;
	aheadOfChart(thread: number): Steps<void>;
	aheadOfRan(fn: number, when: Columns): Steps<void>;
	/** Makes what `momentAt` looks things up in. */
	aheadOfMoments(): Steps<void>;
	aheadOfDifferences(): Steps<void>;
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
	/** By `state << 2 | quality`: whether there is such a sample, filtered or not. */
	statesThere(): Uint8Array;
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
	/** The file asked for, else that of the selected function, else the hottest of the program's own code. */
	sourceFile(): number | null;
	sourceLines(file: number): FileLines;
	strip(fromNs: number, toNs: number, columns: number): StripColumns;
	/** What a thread did from one instant to another, as a node of `tree()`. */
	momentAt(thread: number, span: readonly [number, number]): Moment | null;
	/** When a function was on the stack, by thread and column of the timeline: shares of `full` samples. */
	ran(fn: number, when: Columns): ReadonlyMap<number, Float32Array>;
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

/** Work that is kept as long as what it is made from. */
function kept<T>(p: Pipeline, name: string, from: readonly unknown[], steps: () => Steps<T>): Work<T> {
	return p.keep(name, from, () => workOf(steps()));
}

function placesWork(p: Pipeline, unit: Unit): Work<PlaceValues> {
	const passes = sieve(p);
	const { cells, meta } = p.profile;
	if (unit === "time" && !cells.weight) {
		return kept(p, "places time", [passes], () => scaling(placesWork(p, "samples"), meta.period_ns));
	}
	return kept(p, `places ${unit}`, [passes], () => addingPlaces(p.profile, passes, unit));
}

function* scaling(work: Work<PlaceValues>, scale: number): Steps<PlaceValues> {
	yield* stepsOf(work);
	const { values, frameless } = work.result();
	return { values: values.map((n) => n * scale), frameless: frameless * scale };
}

function places(p: Pipeline, unit: Unit): PlaceValues {
	return placesWork(p, unit).result();
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

function treeWork(p: Pipeline, by: State["by"], startup: boolean): Work<Tree> {
	const form = shape(p, by, startup);
	const values = places(p, p.state.unit);
	return kept(p, `tree ${by} ${String(startup)}`, [form, values], () => growing(form, values));
}

function tree(p: Pipeline, by: State["by"], startup: boolean): Tree {
	return treeWork(p, by, startup).result();
}

function mainShape(p: Pipeline): FoldedShape {
	return shape(p, p.state.by, p.state.startup);
}

function momentsWork(p: Pipeline): Work<Moments> {
	const { cells, meta } = p.profile;
	return kept(p, "moments", [p.profile], () => findingMoments(cells, meta.threads.length));
}

function chartWork(p: Pipeline, thread: number): Work<Chart> {
	const [form, passes] = [mainShape(p), sieve(p)];
	return kept(p, "chart", [form, passes, thread], () =>
		charting({ profile: p.profile, sieve: passes, shape: form, moments: momentsWork(p).result(), thread }),
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

function calleesWork(p: Pipeline, fn: number): Work<Tree> {
	const from = mainTree(p);
	return kept(p, "callees", [from, fn], () => calleesIn(from, fn));
}

function wholeWork(p: Pipeline, unit: Unit): Work<number> {
	const form = shape(p, "function", false);
	const values = places(p, unit);
	return kept(p, `whole ${unit}`, [form, values], () => addingAll(form, values));
}

function whole(p: Pipeline, unit: Unit): number {
	if (unit === "time" && !p.profile.cells.weight) return whole(p, "samples") * p.profile.meta.period_ns;
	return wholeWork(p, unit).result();
}

/** What tables and cards count: start-up frames are not folded there. */
function selectedWork(p: Pipeline): Work<Selected> {
	const { profile } = p;
	const [passes, form] = [sieve(p), shape(p, "function", false)];
	return kept(p, "selected", [passes, form], function* () {
		return { profile, sieve: passes, shape: form, batching: yield* batching(profile, passes, form) };
	});
}

function selected(p: Pipeline): Selected {
	return selectedWork(p).result();
}

/** Samples are left out for what they show. */
function selects({ filter, transforms }: State): boolean {
	const { states, modules, labels } = filter;
	return states !== 0 || modules.length > 0 || labels.length > 0 || transforms.some(leavesOut);
}

function statisticsWork(p: Pipeline): Work<Statistics> {
	const from = selected(p);
	const { state, profile } = p;
	return kept(p, "statistics", [from], () =>
		addingStatistics({ ...from, filter: state.filter, selects: selects(state) || profile.meta.selected }),
	);
}

function waitsWork(p: Pipeline): Work<readonly WaitFigure[]> {
	const from = selected(p);
	return kept(p, "waits", [from], () => addingWaits(from, stateUnit(p.profile)));
}

/** Each batch of all that passes: added up once for all rows that are asked for. */
function wholeBatchesWork(p: Pipeline): Work<Whole> {
	const { unit } = p.state;
	const from = selected(p);
	const noRows = { byState: new Uint32Array(stateKinds) };
	return kept(p, "whole batches", [from, unit], () => addingBatches(from, unit, 0, noRows));
}

/** Figures of some rows: values, samples and intervals out of one pass over the cells. */
function* addingFigures(p: Pipeline, count: number, rows: Rows): Steps<Figure[]> {
	const { unit } = p.state;
	yield* stepsOf(selectedWork(p));
	const work = wholeBatchesWork(p);
	yield* stepsOf(work);
	const batches = yield* addingBatches(selected(p), unit, count, rows, work.result());
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

function* ownerFigures(p: Pipeline, form: Shape, isOwn: (node: number) => boolean): Steps<Figures> {
	const byPlace = yield* findingBits(form, (node) => (isOwn(node) ? 0 : -1));
	return pair(yield* addingFigures(p, 2, { byPlace }));
}

/** One piece of work for each function, row or the like. */
function keptFor<T>(known: Map<number, Work<T>>, key: number, steps: () => Steps<T>): Work<T> {
	const work = known.get(key) ?? workOf(steps());
	known.set(key, work);
	return work;
}

function functionWork(p: Pipeline, fn: number): Work<Figures> {
	const form = shape(p, "function", false);
	const known = p.keep("function figures", [form, sieve(p), p.state.unit], () => new Map<number, Work<Figures>>());
	return keptFor(known, fn, () => ownerFigures(p, form, (node) => form.fn[node] === fn));
}

function rowsWork(p: Pipeline, by: State["by"]): Work<FunctionRows> {
	const from = tree(p, by, false);
	return kept(p, `rows ${by}`, [from], () => addingRows(p.profile, from));
}

function rowsOf(p: Pipeline, by: State["by"]): FunctionRows {
	return rowsWork(p, by).result();
}

/** By row, NaN: not known yet. */
function knownWidths(p: Pipeline): { self: Float64Array; total: Float64Array } {
	const rows = rowsOf(p, p.state.by);
	return p.keep("widths", [rows], () => ({
		self: new Float64Array(rows.count).fill(NaN),
		total: new Float64Array(rows.count).fill(NaN),
	}));
}

function* findWidths(p: Pipeline, wanted: readonly number[]): Steps<void> {
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
	const figures = yield* addingFigures(p, 2 * wanted.length, { byPlace: yield* findingBits(form, rowOf) });
	wanted.forEach((row, i) => {
		known.self[row] = figures[2 * i]!.halfWidth;
		known.total[row] = figures[2 * i + 1]!.halfWidth;
	});
}

function* aheadOfRows(p: Pipeline, rows: ArrayLike<number>): Steps<void> {
	const known = knownWidths(p);
	const unknown = Array.from(rows).filter((row) => Number.isNaN(known.self[row]));
	for (let i = 0; i < unknown.length; i += maxRows) yield* findWidths(p, unknown.slice(i, i + maxRows));
}

function rowHalfWidths(p: Pipeline, rows: ArrayLike<number>): { self: number[]; total: number[] } {
	finish(aheadOfRows(p, rows));
	const known = knownWidths(p);
	const all = Array.from(rows);
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

function* addingStates(p: Pipeline, fn: number): Steps<number[]> {
	const form = shape(p, "function", false);
	const passes = sieve(p);
	const classes = p.keep("states", [passes], () => classesOf(exclusiveStates(passes)));
	const own = shownNodes(form).slice();
	for (let l = 0; l < own.length; l++) {
		if (l % stride === 0) yield;
		own[l] = own[l]! >= 0 && form.fn[own[l]!] === fn ? 0 : -1;
	}
	const to = { of: own, count: 1 };
	const values = yield* addingByClass(p.profile, passes, stateUnit(p.profile), classes, to);
	return values.map(([value]) => value!);
}

function statesWork(p: Pipeline, fn: number): Work<number[]> {
	const from = [shape(p, "function", false), sieve(p)];
	const known = p.keep("function states", from, () => new Map<number, Work<number[]>>());
	return keptFor(known, fn, () => addingStates(p, fn));
}

function statesThereWork(p: Pipeline): Work<Uint8Array> {
	const { state } = p.profile.cells;
	return kept(p, "states there", [p.profile], function* () {
		const there = new Uint8Array(stateKinds);
		for (let i = 0; i < state.length; i++) {
			if (i % stride === 0) yield;
			there[state[i]!] = 1;
		}
		return there;
	});
}

function leafStates(p: Pipeline, of: Tree): readonly Float64Array[] {
	if (of === mainTree(p)) return leafStatesWork(p).result();
	const none = p.keep("no states", [of], () => new Float64Array(of.count));
	return stripKinds.map(() => none);
}

function leafStatesWork(p: Pipeline): Work<readonly Float64Array[]> {
	const [of, passes] = [mainTree(p), sieve(p)];
	return kept(p, "leaf states", [of, passes], function* () {
		yield* stepsOf(statesThereWork(p));
		const there = statesThereWork(p).result();
		const sets = exclusiveStates(passes);
		/* A column of zeros is large, and most states are rare. */
		const used = sets.filter((set) => set.some((is, i) => is && there[i]));
		const to = { of: shownNodes(of), count: of.count };
		const values = yield* addingByClass(p.profile, passes, p.state.unit, classesOf(used), to);
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

interface LineAbout {
	readonly figures: Figures;
	readonly callers: readonly LineLink[];
	readonly callees: readonly LineLink[];
}

function* addingLine(p: Pipeline, from: Tree, table: LineTable, row: number): Steps<LineAbout> {
	const figures = yield* ownerFigures(p, from, (node) => table.rowOf[node] === row);
	const callers = yield* lineCallers(from, table, row);
	return { figures, callers, callees: yield* lineCallees(from, table, row) };
}

function linesWork(p: Pipeline, file: number): Work<FileLines> {
	const from = tree(p, "line", false);
	return kept(p, "source", [from, file], function* () {
		const { profile } = p;
		const table = yield* addingLines(profile, from, file);
		const known = new Map<number, Work<LineAbout>>();
		const about = (row: number) => keptFor(known, row, () => addingLine(p, from, table, row));
		const byLine = locationsByLine(profile, file);
		const on = (row: number) => byLine.get(table.lines[row]!) ?? [];
		const self = yield* locationValues(profile, from, places(p, p.state.unit));
		const samples = yield* locationValues(profile, from, places(p, "samples"));
		return {
			lines: table.lines,
			self: table.self,
			total: table.total,
			expressions: (row) => expressionsOf(profile, on(row), self),
			callers: (row) => about(row).result().callers,
			callees: (row) => about(row).result().callees,
			opcodes: (row) => opcodesOf(profile, on(row), samples),
			figures: (row) => about(row).result().figures,
			aheadOf: (row) => stepsOf(about(row)),
		};
	});
}

function filesWork(p: Pipeline): Work<readonly FileFigures[]> {
	const from = tree(p, "line", false);
	return kept(p, "files", [from], () => addingFiles(p.profile, from));
}

function sourceFile(p: Pipeline): number | null {
	const { file, selected: fn } = p.state;
	const { functions } = p.profile;
	if (file !== null) return file;
	const own = fn !== null && fn < functions.count ? functions.file[fn]! : 0;
	if (own !== 0) return own;
	const files = filesWork(p).result();
	return p.keep("first file", [files], () => firstFile(p.profile, files));
}

/** Trees with fewer nodes are made in no time, so nothing is made ahead. */
const largeTree = 50_000;

function* stepsOfTree(p: Pipeline, by: State["by"], startup: boolean): Steps<void> {
	yield* stepsOf(shapeWork(p, by, startup));
	yield* stepsOf(placesWork(p, p.state.unit));
	yield* stepsOf(treeWork(p, by, startup));
}

function* stepsOfRows(p: Pipeline, by: State["by"]): Steps<void> {
	yield* stepsOfTree(p, by, false);
	yield* stepsOf(rowsWork(p, by));
}

function* stepsOfView(p: Pipeline): Steps<void> {
	const { view, inverted: isInverted, selected: fn } = p.state;
	if (isInverted && (view === "flame" || view === "tree")) yield* stepsOf(invertedWork(p));
	if (view === "flame" && !isInverted) yield* stepsOf(leafStatesWork(p));
	if (view === "sandwich") yield* stepsOfSandwich(p, fn);
	if (view === "functions") yield* stepsOfRows(p, p.state.by);
	if (view === "source") yield* stepsOfSource(p);
	if (view === "statistics") yield* stepsOfStatistics(p);
}

/** What the sandwich is of where none is selected. */
function hottestFunction(p: Pipeline): number {
	const rows = rowsOf(p, "function");
	return rows.fn[hottestRow(rows)] ?? -1;
}

function* stepsOfSandwich(p: Pipeline, selectedFn: number | null): Steps<void> {
	if (selectedFn === null) yield* stepsOfRows(p, "function");
	const fn = selectedFn ?? hottestFunction(p);
	if (fn < 0) return;
	yield* stepsOf(functionWork(p, fn));
	yield* stepsOf(callersWork(p, fn));
	yield* stepsOf(calleesWork(p, fn));
}

function* stepsOfSource(p: Pipeline): Steps<void> {
	yield* stepsOfTree(p, "line", false);
	yield* stepsOf(filesWork(p));
	const file = sourceFile(p);
	if (file !== null) yield* stepsOf(linesWork(p, file));
}

function* stepsOfStatistics(p: Pipeline): Steps<void> {
	yield* stepsOf(selectedWork(p));
	yield* stepsOf(statisticsWork(p));
	yield* stepsOf(waitsWork(p));
	yield* stepsOf(blameWork(p));
	yield* stepsOf(lockBlameWork(p));
}

/** What shares are shares of, and how many samples these are. */
function* stepsOfWhole(p: Pipeline): Steps<void> {
	const units: Unit[] = p.profile.cells.weight ? ["samples", "time"] : ["samples"];
	for (const unit of units) {
		yield* stepsOf(placesWork(p, unit));
		yield* stepsOf(wholeWork(p, unit));
	}
}

function* ahead(p: Pipeline): Steps<void> {
	const { by, startup } = p.state;
	if (p.profile.tree.places < largeTree) return;
	yield* stepsOf(shapeWork(p, "function", false));
	yield* stepsOfWhole(p);
	yield* stepsOf(statesThereWork(p));
	yield* stepsOfTree(p, by, startup);
	yield* stepsOfView(p);
}

function* aheadOf(p: Pipeline, fn: number): Steps<void> {
	if (p.profile.tree.places < largeTree) return;
	yield* stepsOf(functionWork(p, fn));
	yield* stepsOf(statesWork(p, fn));
	yield* stepsOfRows(p, "line");
	yield* stepsOf(callersWork(p, fn));
	yield* stepsOf(calleesWork(p, fn));
}

/** Of the table of functions, which what stands beside the views is about, and of that which is shown. */
function* aheadOfTables(p: Pipeline): Steps<void> {
	if (p.profile.tree.places < largeTree) return;
	yield* stepsOfRows(p, "function");
	yield* stepsOfRows(p, p.state.by);
}

function* aheadOfWaits(p: Pipeline): Steps<void> {
	yield* stepsOf(selectedWork(p));
	yield* stepsOf(waitsWork(p));
}

function* aheadOfChart(p: Pipeline, thread: number): Steps<void> {
	yield* stepsOf(momentsWork(p));
	yield* stepsOf(chartWork(p, thread));
}

/** What passes where threads are not left out for being idle. */
function withIdle({ profile, state: { filter }, keep }: Pipeline): Sieve {
	const { processes, threads, time, states, idle } = filter;
	const parts = [profile, processes, threads, time?.[0], time?.[1], states, idle];
	return keep("with idle", parts, () => sieveOf(profile, idle === "hide" ? { ...filter, idle: "keep" } : filter));
}

/** Who waits for a lock is not idle, however little it ran. */
function lockBlameWork(p: Pipeline): Work<LockBlame | null> {
	const [from, passes] = [selected(p), withIdle(p)];
	return kept(p, "lock blame", [from, passes], () => findingLockBlame({ ...from, sieve: passes }));
}

function blameWork(p: Pipeline): Work<Blame | null> {
	const from = selected(p);
	return kept(p, "blame", [from], () => findingBlame(from));
}

function ranWork(p: Pipeline, fn: number, when: Columns): Work<ReadonlyMap<number, Float32Array>> {
	const [form, passes] = [shape(p, "function", false), sieve(p)];
	return kept(p, "ran", [form, passes, fn, when.durationNs, when.columns, when.full], function* () {
		const holds = yield* findingBits(form, (node) => (form.fn[node] === fn ? 0 : -1));
		return yield* addingRan(p.profile, passes, holds, when);
	});
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

function differencesWork(p: Pipeline): Work<readonly DiffRow[]> | null {
	const { profile, state, keep } = p;
	const passes = keep("rest", [profile, state.filter], () => restOf(profile, state.filter));
	if (!passes) return null;
	const [rows, unit] = [rowsOf(p, "function"), state.unit];
	const rest: Pipeline = { ...p, passes, keep: keep("of the rest", [profile], memory) };
	return kept(p, "differences", [rows, passes], function* () {
		yield* stepsOfTree(rest, "function", false);
		return yield* differing(profile, sideOf(p), sideOf(rest), unit);
	});
}

function* aheadOfDifferences(p: Pipeline): Steps<void> {
	if (p.profile.tree.places >= largeTree) yield* stepsOfRows(p, "function");
	const work = differencesWork(p);
	if (work) yield* stepsOf(work);
}

function shownOf(p: Pipeline): Shown {
	const { profile, state } = p;
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
		aheadOfRows: (rows) => aheadOfRows(p, rows),
		aheadOfStates: (fn) => stepsOf(statesWork(p, fn)),
		aheadOfLines: () => stepsOfRows(p, "line"),
		aheadOfTables: () => aheadOfTables(p),
		aheadOfWaits: () => aheadOfWaits(p),
		aheadOfChart: (thread) => aheadOfChart(p, thread),
		aheadOfRan: (fn, when) => stepsOf(ranWork(p, fn, when)),
		aheadOfMoments: () => stepsOf(momentsWork(p)),
		aheadOfDifferences: () => aheadOfDifferences(p),
		foldedFunctions: () => shape(p, state.by, state.startup).folded,
		folded: () => shape(p, state.by, state.startup).folded.length,
		tree: () => mainTree(p),
		inverted: () => invertedWork(p).result(),
		shownTree: () => (state.inverted ? invertedWork(p).result() : mainTree(p)),
		callers: (fn) => callersWork(p, fn).result(),
		callees: (fn) => calleesWork(p, fn).result(),
		rows: () => rowsOf(p, state.by),
		functionRows: () => rowsOf(p, "function"),
		lineRows: () => rowsOf(p, "line"),
		rowHalfWidths: (rows) => rowHalfWidths(p, rows),
		figures: (of, node) => pair(finish(addingFigures(p, 2, { byPlace: nodeBits(of, node) }))),
		functionFigures: (fn) => functionWork(p, fn).result(),
		functionStates: (fn) => statesWork(p, fn).result(),
		statesThere: () => statesThereWork(p).result(),
		leafStates: (of) => leafStates(p, of),
		search: () => search(p),
		statistics: () => statisticsWork(p).result(),
		waits: () => waitsWork(p).result(),
		blame: () => blameWork(p).result(),
		lockBlame: () => lockBlameWork(p).result(),
		sourceFiles: () => filesWork(p).result(),
		sourceFile: () => sourceFile(p),
		sourceLines: (file) => linesWork(p, file).result(),
		strip: (fromNs, toNs, columns) => stripColumns(profile, sieve(p).threads, fromNs, toNs, columns),
		momentAt: (thread, span) =>
			momentAt({ profile, sieve: sieve(p), shape: mainShape(p) }, momentsWork(p).result(), thread, span),
		ran: (fn, when) => ranWork(p, fn, when).result(),
		chart: (thread) => chartWork(p, thread).result(),
		differences: () => differencesWork(p)?.result() ?? null,
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
		keep("shown", [state], () =>
			shownOf({ profile: profileOf(report, state), state, keep: memoryOfState(keep) }),
		);
}
