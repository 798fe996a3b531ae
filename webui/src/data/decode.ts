// SPDX-License-Identifier: Apache-2.0
// A profile out of its columns (docs/design/006-report-page.md, plumb.page/1). Everything is checked once, here: who
// reads a Profile may index with what is in it. Layer data; pure.
import {
	amounts, amountsInto, type Bytes, bytesOf, column, countOf, deltas, isAtEnd, part, rest, svarint, unsigned, varint,
} from "./bytes";
import { decodeMeta } from "./meta";
import { findingEnds } from "./preorder";
import type { BaseTree, Cells, FunctionTable, LocationTable, Meta, Profile, Source, Strip } from "./profile";
import { stateKinds, stripKinds } from "./profile";
import { finish, type Steps, stride } from "./steps";
import { functionTable } from "./tables";

const Tag = { meta: 1, strings: 2, functions: 3, locations: 4, tree: 5, cells: 6, strip: 7, sources: 8 } as const;

const maxId = 2 ** 31 - 2;
const maxLine = 2 ** 31 - 1;

function sections(data: Uint8Array): Map<number, Bytes> {
	const all = bytesOf(data);
	const found = new Map<number, Bytes>();
	while (!isAtEnd(all)) {
		const tag = varint(all);
		found.set(tag, part(all, varint(all)));
	}
	return found;
}

function decodeStrings(b: Bytes): string[] {
	const lengths = column(b, countOf(b), maxId);
	const utf8 = new TextDecoder();
	const bytes = rest(b);
	const all = utf8.decode(bytes);
	const plain = all.length === bytes.length;
	let at = 0;
	return Array.from(lengths, (length) => {
		const from = at;
		at += length;
		if (at > bytes.length) throw new Error("a text is cut");
		// Where all is ASCII, characters are bytes.
		return plain ? all.substring(from, at) : utf8.decode(bytes.subarray(from, at));
	});
}

function decodeFunctions(b: Bytes, strings: string[], meta: Meta): FunctionTable {
	const count = countOf(b);
	const id = () => unsigned(deltas(b, count, strings.length - 1));
	return functionTable(meta, strings, {
		name: id(),
		qualname: id(),
		file: id(),
		module: id(),
		line: unsigned(deltas(b, count, maxLine)),
		category: Uint8Array.from(column(b, count, Math.min(meta.categories.length, 256) - 1)),
		origin: Uint8Array.from(column(b, count, 4)),
	});
}

function checkLine(line: number): number {
	if (!(line >= -maxLine && line <= maxLine)) throw new Error("a line is out of range");
	return line;
}

/** Lines are told from the line before in the function, the first one from where the function begins. */
function decodeLines(b: Bytes, functions: FunctionTable, start: Uint32Array, line: Int32Array): void {
	for (let fn = 0; fn < functions.count; fn++) {
		let last = functions.line[fn]!;
		for (let i = start[fn]!; i < start[fn + 1]!; i++) {
			last += svarint(b);
			line[i] = checkLine(last);
		}
	}
}

function decodeLocations(b: Bytes, functions: FunctionTable): LocationTable {
	const counts = column(b, functions.count, maxId);
	const start = new Uint32Array(functions.count + 1);
	for (let fn = 0; fn < functions.count; fn++) start[fn + 1] = start[fn]! + counts[fn]!;
	const count = counts.reduce((sum, n) => sum + n, 0);
	if (count > b.end - b.at) throw new Error("a table is cut");
	const line = new Int32Array(count);
	decodeLines(b, functions, start, line);
	const endLine = line.map((first) => checkLine(first + svarint(b)));
	const columns = line.map(() => checkLine(svarint(b)));
	const endColumn = columns.map((first) => checkLine(first + svarint(b)));
	const opcode = Uint16Array.from(column(b, count, 65535));
	const inlined = isAtEnd(b) ? null : Uint8Array.from(column(b, count, 1));
	const fn = new Uint32Array(count);
	for (let f = 0; f < functions.count; f++) fn.fill(f, start[f], start[f + 1]);
	return { count, start, fn, line, endLine, column: columns, endColumn, opcode, inlined };
}

/** Depths and callers out of how many levels each node goes up. */
function* decodeNesting(b: Bytes, count: number): Steps<Pick<BaseTree, "parent" | "depth" | "end">> {
	const parent = new Int32Array(count);
	const depth = column(b, count, maxId);
	const path = new Int32Array(count + 1);
	for (let i = 0, last = -1; i < count; i++) {
		if (i % stride === 0) yield;
		const own = last + 1 - depth[i]!;
		if (own < 0 || (i === 0 && own !== 0)) throw new Error("the tree goes above its roots");
		depth[i] = last = own;
		parent[i] = own > 0 ? path[own - 1]! : -1;
		path[own] = i;
	}
	return { parent, depth, end: yield* findingEnds(parent) };
}

/** Which functions each function calls, and (before them) which are roots: those of function f are
 * fn[start[f + 1]] .. fn[start[f + 2] - 1]. */
function decodeCallees(b: Bytes, functions: FunctionTable): { start: Int32Array; fn: Int32Array } {
	const counts = column(b, functions.count + 1, functions.count);
	const start = new Int32Array(counts.length + 1);
	for (let i = 0, sum = 0; i < counts.length; i++) {
		sum += counts[i]!;
		if (sum > b.end - b.at) throw new Error("the callees are cut");
		start[i + 1] = sum;
	}
	return { start, fn: column(b, start[counts.length]!, functions.count - 1) };
}

/** The function of each node out of which of the callees of its caller's function it is. */
function decodeNodeFunctions(b: Bytes, parent: Int32Array, callees: ReturnType<typeof decodeCallees>): Uint32Array {
	const fn = unsigned(column(b, parent.length, maxId));
	for (let i = 0; i < fn.length; i++) {
		const caller = parent[i]! < 0 ? 0 : fn[parent[i]!]! + 1;
		const at = callees.start[caller]! + fn[i]!;
		if (at >= callees.start[caller + 1]!) throw new Error("a callee is unknown");
		fn[i] = callees.fn[at]!;
	}
	return fn;
}

function* decodeTree(b: Bytes, functions: FunctionTable, locations: LocationTable): Steps<BaseTree> {
	const count = countOf(b);
	const places = countOf(b);
	const callees = decodeCallees(b, functions);
	const nesting = yield* decodeNesting(b, count);
	const fn = decodeNodeFunctions(b, nesting.parent, callees);
	yield;
	const more = column(b, count, maxId);
	const firstPlace = new Int32Array(count + 1);
	for (let i = 0, sum = 0; i < count; i++) {
		sum += more[i]! + 1;
		if (sum > places) throw new Error("there are too many places");
		firstPlace[i + 1] = sum;
	}
	if (firstPlace[count] !== places) throw new Error("there are too few places");
	yield;
	const location = decodePlaceLocations(b, firstPlace, fn, locations);
	yield;
	const node = new Int32Array(places);
	for (let i = 0, place = 0; i < count; i++) {
		for (const end = firstPlace[i + 1]!; place < end; place++) node[place] = i;
	}
	const tree = { count, ...nesting, fn, firstPlace, places, location, node };
	yield;
	return { ...tree, caller: yield* decodeCallers(b, tree) };
}

/** In a node they rise: the first is told as it is, the others from the one before. */
function decodePlaceLocations(
	b: Bytes,
	firstPlace: Int32Array,
	fn: Uint32Array,
	{ start }: LocationTable,
): Uint32Array {
	const location = unsigned(column(b, firstPlace[fn.length]!, maxId));
	for (let i = 0, place = 0; i < fn.length; i++) {
		const end = firstPlace[i + 1]!;
		const behind = start[fn[i]! + 1]!;
		for (let last = start[fn[i]!]!; place < end; place++) {
			last += location[place]!;
			if (last >= behind) throw new Error("a location is unknown");
			location[place] = last;
		}
	}
	return location;
}

/** Which place of the node above each place was called from: told only where there are several, and rising among places
 * of one location. */
function* decodeCallers(b: Bytes, tree: Omit<BaseTree, "caller">): Steps<Int32Array> {
	const caller = new Int32Array(tree.places);
	const { parent, firstPlace, location } = tree;
	for (let i = 0; i < tree.count; i++) {
		if (i % stride === 0) yield;
		const up = parent[i]!;
		const first = up < 0 ? -1 : firstPlace[up]!;
		const several = up < 0 ? 1 : firstPlace[up + 1]! - first;
		for (let place = firstPlace[i]!, nth = 0; place < firstPlace[i + 1]!; place++) {
			const same = place > firstPlace[i]! && location[place] === location[place - 1];
			if (several > 1) nth = varint(b) + (same ? nth + 1 : 0);
			if (nth >= several) throw new Error("a caller is unknown");
			caller[place] = first + nth;
		}
	}
	return caller;
}

function* decodeCells(b: Bytes, tree: BaseTree, functions: FunctionTable, meta: Meta): Steps<Cells> {
	const shift = varint(b);
	const flags = varint(b);
	const count = countOf(b);
	if (shift > 52) throw new Error("the bins are too long");
	const place = column(b, count, maxId);
	for (let i = 0, last = -1; i < count; i++) {
		last += place[i]!;
		if (last >= tree.places) throw new Error("samples are of no node");
		place[i] = last;
	}
	const bins = Math.ceil(meta.bins / 2 ** shift);
	yield;
	const thread = unsigned(column(b, count, meta.threads.length - 1));
	const state = new Uint16Array(column(b, count, stateKinds - 1));
	yield;
	const bin = unsigned(deltas(b, count, Math.min(bins - 1, maxId)));
	const samples = amounts(b, count);
	yield;
	const weight = flags & 1 ? samples.map((n) => n * meta.period_ns + svarint(b)) : null;
	const heldBy = flags & 2 ? column(b, count, functions.count + 1) : null;
	const lock = flags & 4 ? column(b, count, (meta.lock_states ?? []).length + 1) : null;
	return { count, place, thread, state, bin, samples, weight, heldBy, lock, binNs: meta.bin_ns * 2 ** shift, bins };
}

function decodeStrip(b: Bytes | undefined, meta: Meta): Strip {
	const none = { bins: meta.bins, binNs: meta.bin_ns, start: new Uint32Array(meta.threads.length + 1) };
	if (!b) return { ...none, bin: new Uint32Array(0), samples: new Float64Array(0) };
	const bins = varint(b);
	const threads = varint(b);
	if (threads !== meta.threads.length) throw new Error("the timeline is of other threads");
	const start = new Uint32Array(threads + 1);
	const runs = Array.from(meta.threads, (_, t) => {
		const run = decodeRuns(b, bins);
		start[t + 1] = start[t]! + run.bin.length;
		return run;
	});
	const all: Strip = {
		bins,
		binNs: meta.bin_ns,
		start,
		bin: new Uint32Array(start[threads]!),
		samples: new Float64Array(start[threads]! * stripKinds.length),
	};
	runs.forEach((run, t) => {
		all.bin.set(run.bin, start[t]);
		all.samples.set(run.samples, start[t]! * stripKinds.length);
	});
	return all;
}

function decodeRuns(b: Bytes, bins: number): { bin: Uint32Array; samples: Float64Array } {
	const count = countOf(b);
	const kinds = stripKinds.length;
	const bin = unsigned(column(b, count, maxId));
	for (let i = 0, next = 0; i < count; i++) {
		bin[i]! += next;
		next = bin[i]! + 1;
		if (next > bins) throw new Error("the timeline is longer than the recording");
	}
	const samples = new Float64Array(count * kinds);
	for (let k = 0; k < kinds; k++) amountsInto(b, count, samples, k, kinds);
	return { bin, samples };
}

function decodeSources(b: Bytes | undefined, strings: readonly string[]): Map<number, Source> {
	const sources = new Map<number, Source>();
	const utf8 = new TextDecoder();
	for (let files = b ? countOf(b) : 0; b && files > 0; files--) {
		const file = varint(b);
		if (file >= strings.length) throw new Error("a source file has no name");
		const changed = (varint(b) & 1) === 1;
		const ranges = Array.from({ length: countOf(b) }, () => {
			const firstLine = varint(b);
			const text = utf8.decode(rest(part(b, varint(b))));
			return { firstLine, lines: text.replace(/\n$/, "").split("\n") };
		});
		sources.set(file, { changed, ranges });
	}
	return sources;
}

/** Section by section: whoever wants to do something else in between can. */
function* decoding(data: Uint8Array): Steps<Profile> {
	const found = sections(data);
	const need = (tag: number): Bytes => {
		const b = found.get(tag);
		if (!b) throw new Error(`section ${tag} is missing`);
		return b;
	};
	const meta = decodeMeta(rest(need(Tag.meta)));
	const strings = decodeStrings(need(Tag.strings));
	const functions = decodeFunctions(need(Tag.functions), strings, meta);
	const locations = decodeLocations(need(Tag.locations), functions);
	yield;
	const tree = yield* decodeTree(need(Tag.tree), functions, locations);
	yield;
	const cells = yield* decodeCells(need(Tag.cells), tree, functions, meta);
	yield;
	const strip = decodeStrip(found.get(Tag.strip), meta);
	yield;
	const sources = decodeSources(found.get(Tag.sources), strings);
	return { meta, strings, functions, locations, tree, cells, strip, sources };
}

/** The bytes of a block of kind `profile`, decompressed. */
export function decodeProfile(data: Uint8Array): Profile {
	return finish(decoding(data));
}

/** The same without holding up the browser for all of it at once; `rest` lets it do what waits. */
export async function decodeInSteps(data: Uint8Array, rest: () => Promise<void>): Promise<Profile> {
	const steps = decoding(data);
	for (;;) {
		const step = steps.next();
		if (step.done) return step.value;
		await rest();
	}
}
