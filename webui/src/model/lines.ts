// SPDX-License-Identifier: Apache-2.0
// Lines of source files: their figures, who calls them and what they call, expressions and instructions in them. Out of
// the tree by line, in which a line is a node. Layer model; pure.
import type { Profile } from "../data/profile";
import { type Steps, stride } from "../data/steps";
import { sumByKey } from "./functions";
import type { PlaceValues } from "./filter";
import type { Figures } from "./figures";
import { intern, interner } from "./interner";
import { nodeOfSamples, type Tree } from "./tree";

export interface FileFigures {
	/** String id. */
	readonly file: number;
	readonly self: number;
	readonly total: number;
	/** The page has its text. */
	readonly hasText: boolean;
}

function isFile(profile: Profile, file: number): boolean {
	return file > 0 && profile.strings[file] !== "~";
}

/** Files with samples, the one with most self first. */
export function* addingFiles(profile: Profile, tree: Tree): Steps<FileFigures[]> {
	const { functions, strings, sources } = profile;
	const key = new Int32Array(tree.count);
	for (let i = 0; i < key.length; i++) {
		if (i % stride === 0) yield;
		key[i] = functions.file[tree.fn[i]!]!;
	}
	const { self, total } = yield* sumByKey(tree, key, strings.length);
	const files: FileFigures[] = [];
	for (let file = 1; file < total.length; file++) {
		if (!isFile(profile, file) || !(total[file]! > 0)) continue;
		files.push({ file, self: self[file]!, total: total[file]!, hasText: sources.has(file) });
	}
	return files.sort((a, b) => b.self - a.self || b.total - a.total || a.file - b.file);
}

/** The hottest file of the program's own code; if it has none the hottest. */
export function firstFile({ meta, functions }: Profile, files: readonly FileFigures[]): number | null {
	const own = meta.categories.findIndex(({ name }) => name === "Application");
	const ofOwn = new Set<number>();
	for (let fn = 0; fn < functions.count; fn++) {
		if (functions.category[fn] === own) ofOwn.add(functions.file[fn]!);
	}
	return (files.find(({ file }) => ofOwn.has(file)) ?? files[0])?.file ?? null;
}

/** Another line, and how much of this one goes together with it. */
export interface LineLink {
	readonly fn: number;
	readonly line: number;
	readonly value: number;
}

export interface LineTable {
	/** Rising; lines that were sampled. */
	readonly lines: Int32Array;
	readonly self: Float64Array;
	readonly total: Float64Array;
	/** By node of the tree: index of its line, -1: it is in another file. */
	readonly rowOf: Int32Array;
}

export function* addingLines(profile: Profile, tree: Tree, file: number): Steps<LineTable> {
	const { file: fileOf } = profile.functions;
	const here = (i: number) => (fileOf[tree.fn[i]!] === file ? tree.line[i]! : 0);
	const found = new Set<number>();
	for (let i = 0; i < tree.count; i++) {
		if (i % stride === 0) yield;
		if (here(i) > 0) found.add(here(i));
	}
	const lines = Int32Array.from(found).sort();
	const rows = new Map(Array.from(lines, (line, row) => [line, row]));
	const rowOf = new Int32Array(tree.count).fill(-1);
	yield;
	for (let i = 0; i < tree.count; i++) if (here(i) > 0) rowOf[i] = rows.get(here(i))!;
	return { lines, rowOf, ...(yield* sumByKey(tree, rowOf, lines.length)) };
}

/** Add up what nodes have by who stands beside them; a sample that passes a pair twice counts once. */
function links(tree: Tree, pairs: Iterable<readonly [node: number, other: number]>): LineLink[] {
	const table = interner();
	const values: number[] = [];
	const until: number[] = [];
	for (const [node, other] of pairs) {
		const key = intern(table, tree.fn[other]!, tree.line[other]!, 0);
		if (node < (until[key] ?? 0)) continue;
		values[key] = (values[key] ?? 0) + tree.total[node]!;
		until[key] = tree.end[node]!;
	}
	const all = values.map((value, key) => ({ fn: table.a[key]!, line: table.b[key]!, value }));
	return all.filter((link) => link.value > 0).sort((a, b) => b.value - a.value);
}

export function* lineCallers(tree: Tree, table: LineTable, row: number): Steps<LineLink[]> {
	const pairs: [number, number][] = [];
	for (let i = 0; i < tree.count; i++) {
		if (i % stride === 0) yield;
		if (table.rowOf[i] === row && tree.parent[i]! >= 0) pairs.push([i, tree.parent[i]!]);
	}
	return links(tree, pairs);
}

export function* lineCallees(tree: Tree, table: LineTable, row: number): Steps<LineLink[]> {
	const pairs: [number, number][] = [];
	for (let i = 0; i < tree.count; i++) {
		if (i % stride === 0) yield;
		const up = tree.parent[i]!;
		if (up >= 0 && table.rowOf[up] === row) pairs.push([i, i]);
	}
	return links(tree, pairs);
}

export interface Expression {
	readonly column: number;
	readonly endLine: number;
	readonly endColumn: number;
	readonly self: number;
}

/** By location of the profile: what ended there. */
export function* locationValues(profile: Profile, tree: Tree, { values }: PlaceValues): Steps<Float64Array> {
	const { locations, tree: base } = profile;
	const self = new Float64Array(locations.count);
	for (let place = 0; place < values.length; place++) {
		if (place % stride === 0) yield;
		if (nodeOfSamples(tree, place) >= 0) self[base.location[place]!]! += values[place]!;
	}
	return self;
}

/** By line of a file: the locations on it. */
export function locationsByLine(profile: Profile, file: number): Map<number, number[]> {
	const { functions, locations } = profile;
	const byLine = new Map<number, number[]>();
	for (let fn = 0; fn < functions.count; fn++) {
		if (functions.file[fn] !== file) continue;
		for (let l = locations.start[fn]!; l < locations.start[fn + 1]!; l++) {
			const line = locations.line[l]!;
			const known = byLine.get(line);
			if (known) known.push(l);
			else byLine.set(line, [l]);
		}
	}
	return byLine;
}

/** Places that differ by instruction only are one expression. Those with samples, heaviest first. */
export function expressionsOf(profile: Profile, found: readonly number[], self: Float64Array): Expression[] {
	const { column, endLine, endColumn } = profile.locations;
	const byRange = new Map<string, Expression>();
	for (const l of found) {
		if (column[l]! < 0 || !(self[l]! > 0)) continue;
		const key = [column[l], endLine[l], endColumn[l]].join();
		const sum = (byRange.get(key)?.self ?? 0) + self[l]!;
		byRange.set(key, { column: column[l]!, endLine: endLine[l]!, endColumn: endColumn[l]!, self: sum });
	}
	return [...byRange.values()].sort((a, b) => b.self - a.self || a.column - b.column);
}

export interface OpcodeFigure {
	readonly name: string;
	readonly samples: number;
}

export function opcodesOf(profile: Profile, found: readonly number[], samples: Float64Array): OpcodeFigure[] {
	const byName = new Map<string, number>();
	for (const l of found) {
		const opcode = profile.locations.opcode[l]!;
		if (!opcode || !(samples[l]! > 0)) continue;
		const number = String(opcode - 1);
		const name = profile.meta.opcodes[number] ?? `opcode ${number}`;
		byName.set(name, (byName.get(name) ?? 0) + samples[l]!);
	}
	return [...byName].map(([name, n]) => ({ name, samples: n })).sort((a, b) => b.samples - a.samples);
}

/** All about the lines of a file; `row` is an index into `lines`. */
export interface FileLines {
	readonly lines: Int32Array;
	readonly self: Float64Array;
	readonly total: Float64Array;
	expressions(row: number): readonly Expression[];
	callers(row: number): readonly LineLink[];
	callees(row: number): readonly LineLink[];
	opcodes(row: number): readonly OpcodeFigure[];
	figures(row: number): Figures;
	/** Makes what is asked of a row that is read. */
	aheadOf(row: number): Steps<void>;
}
