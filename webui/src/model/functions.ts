// SPDX-License-Identifier: Apache-2.0
// The table of functions, or of lines: self, and total counted once however often it is in a stack. Layer model; pure.
import type { Profile } from "../data/profile";
import { type Steps, stride } from "../data/steps";
import { intern, interner } from "./interner";
import type { Tree } from "./tree";

export interface FunctionRows {
	readonly count: number;
	/** Row of the function table. */
	readonly fn: Uint32Array;
	/** 0 in a table of functions. */
	readonly line: Int32Array;
	readonly self: Float64Array;
	readonly total: Float64Array;
}

function hasLines({ line }: Tree): boolean {
	return line.some((one) => one !== 0);
}

interface Keys {
	readonly key: ArrayLike<number>;
	readonly fn: ArrayLike<number>;
	readonly line: ArrayLike<number>;
}

/** By node: which row it belongs to. */
function* keysOf(tree: Tree, rows: number): Steps<Keys> {
	if (!hasLines(tree)) {
		const fn = Uint32Array.from({ length: rows }, (_, i) => i);
		return { key: tree.fn, fn, line: new Int32Array(rows) };
	}
	const table = interner();
	const key = new Int32Array(tree.count);
	for (let i = 0; i < tree.count; i++) {
		if (i % stride === 0) yield;
		key[i] = intern(table, tree.fn[i]!, tree.line[i]!, 0);
	}
	return { key, fn: table.a.subarray(0, table.count), line: table.b.subarray(0, table.count) };
}

/** Self and total of each key (-1: none). A node below one of the same key adds nothing to the total: that has it. */
export function* sumByKey(
	tree: Tree,
	key: ArrayLike<number>,
	keys: number,
): Steps<{ readonly self: Float64Array; readonly total: Float64Array }> {
	const { count, end } = tree;
	const self = new Float64Array(keys);
	const total = new Float64Array(keys);
	const until = new Int32Array(keys);
	for (let i = 0; i < count; i++) {
		if (i % stride === 0) yield;
		const k = key[i]!;
		if (k < 0) continue;
		self[k]! += tree.self[i]!;
		if (i < until[k]!) continue;
		total[k]! += tree.total[i]!;
		until[k] = end[i]!;
	}
	return { self, total };
}

/** Rows with samples, in no special order. */
export function* addingRows(profile: Profile, tree: Tree): Steps<FunctionRows> {
	const { key, fn, line } = yield* keysOf(tree, profile.functions.rows);
	const { self, total } = yield* sumByKey(tree, key, fn.length);
	const kept: number[] = [];
	for (let k = 0; k < total.length; k++) if (total[k]! > 0) kept.push(k);
	return {
		count: kept.length,
		fn: Uint32Array.from(kept, (k) => fn[k]!),
		line: Int32Array.from(kept, (k) => line[k]!),
		self: Float64Array.from(kept, (k) => self[k]!),
		total: Float64Array.from(kept, (k) => total[k]!),
	};
}

/** The row with the most self time, -1: none has any. */
export function hottestRow({ self, total, count }: FunctionRows): number {
	let best = 0;
	for (let row = 1; row < count; row++) {
		if (self[row]! > self[best]! || (self[row] === self[best] && total[row]! > total[best]!)) best = row;
	}
	return count === 0 || self[best] === 0 ? -1 : best;
}

function compareText(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}

export interface Sort {
	readonly column: "self" | "total" | "name" | "file";
	readonly descending: boolean;
}

/** Indexes of rows in the order of a column; equals by self, total and name, so that the order is always the same. */
export function sortRows(profile: Profile, rows: FunctionRows, { column, descending }: Sort): Uint32Array {
	const { functions, strings } = profile;
	const { fn, line, self, total } = rows;
	const name = (i: number) => strings[functions.qualname[fn[i]!]!]!;
	const file = (i: number) => strings[functions.file[fn[i]!]!]!;
	const heavier = (a: number, b: number) => self[b]! - self[a]! || total[b]! - total[a]!;
	const named = (a: number, b: number) =>
		compareText(name(a), name(b)) || compareText(file(a), file(b)) || line[a]! - line[b]! || fn[a]! - fn[b]!;
	const by = {
		self: (a: number, b: number) => self[a]! - self[b]!,
		total: (a: number, b: number) => total[a]! - total[b]!,
		name: (a: number, b: number) => compareText(name(a), name(b)),
		file: (a: number, b: number) => compareText(file(a), file(b)),
	}[column];
	const order = Uint32Array.from({ length: rows.count }, (_, i) => i);
	return order.sort((a, b) => (descending ? -by(a, b) : by(a, b)) || heavier(a, b) || named(a, b));
}
