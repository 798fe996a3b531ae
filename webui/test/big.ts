// SPDX-License-Identifier: Apache-2.0
// Profiles of any size, written as columns at once: a million nodes as plain samples would not fit anywhere.
import { meta, Out, thread } from "./encode";

/** The same numbers for the same seed, everywhere. */
export function random(seed: number): () => number {
	let state = seed >>> 0 || 1;
	return () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return state / 2 ** 32;
	};
}

export interface Size {
	readonly nodes: number;
	readonly functions: number;
	readonly threads: number;
	/** Cells for each node, about. */
	readonly cells: number;
	readonly maxDepth: number;
}

export const million: Size = { nodes: 1_000_000, functions: 6000, threads: 8, cells: 2, maxDepth: 67 };

function strings(names: readonly string[]): Out {
	const encoded = names.map((name) => new TextEncoder().encode(name));
	const out = new Out().varint(encoded.length).column(encoded.map((s) => s.length));
	for (const s of encoded) out.raw(s);
	return out;
}

/** How many different functions each one calls, at most. */
const calleesEach = 128;

/** The first are everywhere, most are rare. */
function someOf(next: () => number, count: number): number {
	return Math.floor(count * next() ** 3);
}

function tree(size: Size, next: () => number): Out {
	const out = new Out().varint(size.nodes).varint(size.nodes);
	const callees = Math.min(calleesEach, size.functions);
	out.column(Array.from({ length: size.functions + 1 }, () => callees));
	for (let caller = 0; caller <= size.functions; caller++) {
		for (let i = 0; i < callees; i++) out.varint((caller * 31 + i) % size.functions);
	}
	const siblings: Set<number>[] = [new Set()];
	const chosen = new Uint32Array(size.nodes);
	for (let i = 0, depth = -1; i < size.nodes; i++) {
		const up = depth + 1 >= size.maxDepth ? 1 : 0;
		const pops = i === 0 ? 0 : Math.min(depth, next() < 0.55 && !up ? 0 : 1 + Math.floor(next() * 3));
		out.varint(pops);
		depth += 1 - pops;
		siblings.length = depth + 1;
		if (siblings[depth]!.size === callees) throw new Error("a node has too many children");
		let callee = someOf(next, callees);
		while (siblings[depth]!.has(callee)) callee = (callee + 1) % callees;
		siblings[depth]!.add(callee);
		siblings.push(new Set());
		chosen[i] = callee;
	}
	out.column(chosen);
	for (let i = 0; i < size.nodes; i++) out.varint(0);
	for (let i = 0; i < size.nodes; i++) out.varint(Math.floor(next() * 4));
	return out;
}

function cells(size: Size, bins: number, next: () => number): Out {
	const rows: [number, number, number, number, number][] = [];
	for (let node = 1; node <= size.nodes; node++) {
		for (let n = Math.floor(next() * size.cells * 2 + 0.5), bin = 0; n > 0; n--) {
			bin = Math.min(bins - 1, bin + Math.floor((next() * bins) / 4));
			const state = next() < 0.7 ? 3 : next() < 0.5 ? 0 : 4;
			rows.push([node, Math.floor(next() * size.threads), state << 2, bin, 1 + Math.floor(next() * 20)]);
		}
	}
	const out = new Out().varint(0).varint(0).varint(rows.length);
	out.column(rows.map((r, i) => r[0] - (i ? rows[i - 1]![0] : 0)));
	out.column(rows.map((r) => r[1])).column(rows.map((r) => r[2]));
	return out.deltas(rows.map((r) => r[3])).column(rows.map((r) => r[4]));
}

/** Each function has four places, so that trees by line are as large as those by function. */
export function bigProfile(size: Size, seed = 1): Uint8Array {
	const next = random(seed);
	const bins = 4096;
	const modules = 200;
	const threads = Array.from({ length: size.threads }, (_, i) =>
		thread({ tid: 10 + i, name: `Worker-${String(i)}`, main: i === 0 }),
	);
	const m = meta({ threads, bins, duration_ns: bins * 2 ** 20 });
	const names = Array.from({ length: size.functions }, (_, i) => `function_${String(i)}`);
	const files = Array.from({ length: modules }, (_, i) => `/srv/app/package_${String(i)}/module.py`);
	const ids = names.map((_, i) => i + 1);
	const fileIds = names.map((_, i) => size.functions + 1 + (i % modules));
	const table = new Out().varint(size.functions).deltas(ids).deltas(ids).deltas(fileIds).deltas(fileIds);
	table.deltas(ids.map((i) => i * 10)).column(ids.map((i) => 1 + (i % 4)));
	table.column(ids.map((i) => (i % 4 === 3 ? 1 : 0)));
	const where = new Out().column(ids.map(() => 4));
	// Line, end line, column, end column, opcode.
	for (const value of [1, 0, 4, 8, 0]) for (let i = 0; i < size.functions * 4; i++) where.svarint(value);
	return new Out()
		.section(1, new Out().raw(new TextEncoder().encode(JSON.stringify(m))))
		.section(2, strings(["", ...names, ...files]))
		.section(3, table)
		.section(4, where)
		.section(5, tree(size, next))
		.section(6, cells(size, bins, next))
		.done();
}
