// SPDX-License-Identifier: Apache-2.0
// The other direction of src/data/decode.ts, for tests: columns out of samples that are written down plainly, or out of
// a random tree of any size.
import { gzipSync } from "node:zlib";

import type { Category, Meta, Process, Thread } from "../src/data/profile";

export interface PlainFunction {
	readonly name: string;
	readonly qualname?: string;
	readonly file?: string;
	readonly module?: string;
	readonly line?: number;
	readonly category?: number;
	readonly origin?: number;
}

/** A frame: name of a function, line, and if they matter columns and opcode. */
export interface PlainFrame {
	readonly fn: string;
	readonly line: number;
	readonly endLine?: number;
	readonly column?: number;
	readonly endColumn?: number;
	readonly opcode?: number;
	readonly inlined?: boolean;
}

export interface PlainSample {
	/** "main:3;work:10": outermost first, or frames. */
	readonly stack: string | readonly PlainFrame[];
	readonly thread?: number;
	readonly state?: number;
	readonly quality?: number;
	readonly timeNs?: number;
	readonly samples?: number;
	readonly weightNs?: number;
	/** Waiting for the GIL: the function that held it, "" if none was seen. */
	readonly heldBy?: string;
	/** Waiting for a lock: -1 it is not known, else a row of meta.lock_states. */
	readonly lock?: number;
}

export interface PlainProfile {
	readonly meta?: Partial<Meta>;
	/** Others than these are made with the file "NAME.py". */
	readonly functions?: readonly PlainFunction[];
	readonly samples: readonly PlainSample[];
	/** Bins of cells are bins of the strip >> shift. */
	readonly shift?: number;
	readonly sources?: Readonly<Record<string, readonly { firstLine: number; text: string }[]>>;
}

export const categories: readonly Category[] = [
	{ name: "Other", fill: "#e8e8e8" },
	{ name: "Application", fill: "#e79e00" },
	{ name: "Library", fill: "#afdaf6" },
	{ name: "Standard library", fill: "#7ad0b3" },
	{ name: "Native", fill: "#cf80b2" },
	{ name: "Kernel", fill: "#bd753f" },
	{ name: "Waiting", fill: "#aeb9c9" },
	{ name: "Garbage collection", fill: "#f0e442" },
];

export class Out {
	private bytes = new Uint8Array(64);
	private length = 0;

	byte(v: number): void {
		if (this.length === this.bytes.length) {
			const more = new Uint8Array(this.length * 2);
			more.set(this.bytes);
			this.bytes = more;
		}
		this.bytes[this.length++] = v;
	}

	varint(value: number): this {
		let v = value;
		for (; v >= 128; v = Math.floor(v / 128)) this.byte((v % 128) | 128);
		this.byte(v);
		return this;
	}

	svarint(v: number): this {
		return this.varint(v < 0 ? -2 * v - 1 : 2 * v);
	}

	raw(data: Uint8Array): this {
		for (const b of data) this.byte(b);
		return this;
	}

	column(values: Iterable<number>): this {
		for (const v of values) this.varint(v);
		return this;
	}

	deltas(values: Iterable<number>): this {
		let last = 0;
		for (const v of values) {
			this.svarint(v - last);
			last = v;
		}
		return this;
	}

	section(tag: number, content: Out): this {
		return this.varint(tag).varint(content.length).raw(content.done());
	}

	done(): Uint8Array {
		return this.bytes.subarray(0, this.length);
	}
}

export function thread(more: Partial<Thread> = {}): Thread {
	const none = { samples: 0, weight_ns: 0, on_cpu: 0, has_gil: 0, wants_gil: 0, cpu_ns: null };
	return { process: 0, pid: 10, tid: 10, name: "MainThread", main: true, idle: false, ...none, ...more };
}

export function process(more: Partial<Process> = {}): Process {
	const times = { start_ns: 0, came_ns: 0, ended_ns: null, samples: 0, weight_ns: 0 };
	return { pid: 10, parent: 1, name: "app.py", program: "python3 app.py", python: "3.12.1", ...times, ...more };
}

export function meta(more: Partial<Meta> = {}): Meta {
	const refused = { tracer: 0, rights: 0, filter: 0, other: 0, last: null };
	return {
		schema: "plumb.page/1",
		made_by: "plumb 0.1 report",
		plumb_version: "0.1",
		command: "python3 app.py",
		host: "box",
		engine: "remote",
		mode: "wall",
		start: "2026-01-01T00:00:00.000000Z",
		duration_ns: 1e9,
		period_ns: 1e6,
		jitter: true,
		seed: "1",
		complete: true,
		untimed: false,
		counted: false,
		imported: false,
		selected: false,
		ticks: 1000,
		losses: {
			missed: 0, missed_ns: 0, unreadable: 0, queue: 0, damaged: 0, unseen: 0, beyond: 0, folded: 0, task: 0,
			native: 0, events: 0, lines: 0,
		},
		overhead: { stops: 0, stopped_ns: 0, stops_refused: refused, profiler_cpu_ns: 0, limit: null },
		bin_ns: 2 ** 20,
		bins: 1024,
		batch_ns: 2 ** 24,
		processes: [process()],
		threads: [thread()],
		categories,
		opcodes: {},
		pruned: null,
		filter: null,
		recording: null,
		...more,
	};
}

function frames(stack: PlainSample["stack"]): readonly PlainFrame[] {
	if (typeof stack !== "string") return stack;
	if (stack === "") return [];
	return stack.split(";").map((part) => {
		const colon = part.lastIndexOf(":");
		return colon < 0 ? { fn: part, line: 1 } : { fn: part.slice(0, colon), line: Number(part.slice(colon + 1)) };
	});
}

class Interned<T> {
	readonly items: T[] = [];
	private readonly ids = new Map<string, number>();

	id(key: string, make: () => T): number {
		let id = this.ids.get(key);
		if (id === undefined) {
			id = this.items.push(make()) - 1;
			this.ids.set(key, id);
		}
		return id;
	}
}

interface Location {
	fn: number;
	line: number;
	endLine: number;
	column: number;
	endColumn: number;
	opcode: number;
	inlined: number;
}

interface FNode {
	fn: number;
	weight: number;
	children: Map<number, FNode>;
	places: Map<string, FPlace>;
}

interface FPlace {
	location: number;
	/** Index among the places of the node above, in the order in which they came. */
	caller: number;
	id: number;
}

/** Strings, functions, locations and the tree of a plain profile, and the L node of each sample. */
function lay(plain: PlainProfile, period: number) {
	const strings = new Interned<string>();
	const text = (s: string) => strings.id(s, () => s);
	text("");
	const functions = new Interned<PlainFunction>();
	for (const f of plain.functions ?? []) functions.id(f.name, () => f);
	const locations = new Interned<Location>();
	const root: FNode = { fn: -1, weight: 0, children: new Map(), places: new Map() };
	const ends = plain.samples.map((s) => {
		const weight = s.weightNs ?? (s.samples ?? 1) * period;
		let node = root;
		let place: { id: number } | null = null;
		const path: [FNode, { id: number }][] = [];
		for (const frame of frames(s.stack)) {
			const fn = functions.id(frame.fn, () => ({ name: frame.fn }));
			const l = {
				fn,
				line: frame.line,
				endLine: frame.endLine ?? frame.line,
				column: frame.column ?? -1,
				endColumn: frame.endColumn ?? -1,
				opcode: frame.opcode ?? 0,
				inlined: frame.inlined ? 1 : 0,
			};
			const location = locations.id(JSON.stringify(l), () => l);
			let below = node.children.get(fn);
			if (!below) node.children.set(fn, (below = { fn, weight: 0, children: new Map(), places: new Map() }));
			below.weight += weight;
			const caller: number = place === null ? 0 : ([...node.places.values()] as unknown[]).indexOf(place);
			const key = `${String(location)} ${String(caller)}`;
			let own = below.places.get(key);
			if (!own) below.places.set(key, (own = { location, caller, id: -1 }));
			place = own;
			node = below;
			path.push([node, place]);
		}
		return place;
	});
	return { strings, text, functions, locations, root, ends };
}

/** Locations function by function and in order, and where each went. */
function sortLocations(locations: readonly Location[], functions: number) {
	const order = locations.map((_, i) => i);
	const key = (l: Location) => [l.fn, l.line, l.column, l.endLine, l.endColumn, l.opcode, l.inlined];
	order.sort((a, b) => {
		const x = key(locations[a]!);
		const y = key(locations[b]!);
		const at = x.findIndex((v, i) => v !== y[i]);
		return at < 0 ? 0 : x[at]! - y[at]!;
	});
	const counts = new Array<number>(functions).fill(0);
	const nth = new Array<number>(locations.length);
	for (const i of order) nth[i] = counts[locations[i]!.fn]!++;
	return { sorted: order.map((i) => locations[i]!), counts, nth };
}

function preorder(root: FNode): { node: FNode; depth: number; up: FNode }[] {
	const out: { node: FNode; depth: number; up: FNode }[] = [];
	const todo = [{ node: root, depth: -1, up: root }];
	for (let top = todo.pop(); top; top = todo.pop()) {
		if (top.depth >= 0) out.push(top);
		const { node, depth } = top;
		const children = [...node.children.values()].sort((a, b) => a.weight - b.weight);
		for (const child of children) todo.push({ node: child, depth: depth + 1, up: node });
	}
	return out;
}

function stripOf(samples: readonly PlainSample[], m: Meta): Out {
	const out = new Out().varint(m.bins).varint(m.threads.length);
	const kind = (state: number) => 
		state & 8 ? 3 : state & 4 ? 1 : state & 1 ? (state >> 8 === 13 ? 5 : 0) : state & 32 ? 4 : 2;
	m.threads.forEach((_, t) => {
		const runs = new Map<number, number[]>();
		for (const s of samples) {
			if ((s.thread ?? 0) !== t) continue;
			const bin = Math.floor((s.timeNs ?? 0) / m.bin_ns);
			const run = runs.get(bin) ?? [0, 0, 0, 0, 0, 0];
			run[kind(s.state ?? 1)]! += s.samples ?? 1;
			runs.set(bin, run);
		}
		const bins = [...runs.keys()].sort((a, b) => a - b);
		out.varint(bins.length).column(bins.map((bin, i) => (i === 0 ? bin : bin - bins[i - 1]! - 1)));
		for (let k = 0; k < 6; k++) out.column(bins.map((bin) => runs.get(bin)![k]!));
	});
	return out;
}

interface Cell {
	node: number;
	thread: number;
	state: number;
	bin: number;
	samples: number;
	weight: number;
	heldBy: number;
	lock: number;
}

function cellsOf(cells: Map<string, Cell>, shift: number, period: number): Out {
	const all = [...cells.values()].sort(
		(a, b) =>
			a.node - b.node || a.thread - b.thread || a.state - b.state || a.bin - b.bin || a.heldBy - b.heldBy ||
			a.lock - b.lock,
	);
	const weighted = all.some((c) => c.weight !== c.samples * period);
	const held = all.some((c) => c.heldBy > 0);
	const locked = all.some((c) => c.lock > 0);
	const flags = (weighted ? 1 : 0) | (held ? 2 : 0) | (locked ? 4 : 0);
	const out = new Out().varint(shift).varint(flags).varint(all.length);
	out.column(all.map((c, i) => c.node - (i ? all[i - 1]!.node : 0)));
	out.column(all.map((c) => c.thread));
	out.column(all.map((c) => c.state));
	out.deltas(all.map((c) => c.bin));
	out.column(all.map((c) => c.samples));
	if (weighted) for (const c of all) out.svarint(c.weight - c.samples * period);
	if (held) out.column(all.map((c) => c.heldBy));
	if (locked) out.column(all.map((c) => c.lock));
	return out;
}

type Order = ReturnType<typeof preorder>;
type PlacesOf = ReadonlyMap<FNode, FPlace[]>;

/** Places by location and caller, and their ids. A caller is from here on its index in that order. */
function placesOf(order: Order, nth: readonly number[]): PlacesOf {
	const sorted = new Map<FNode, FPlace[]>();
	let id = 0;
	for (const { node, up } of order) {
		const callers = [...up.places.values()];
		const above = sorted.get(up) ?? [];
		const places = [...node.places.values()];
		for (const place of places) place.caller = Math.max(0, above.indexOf(callers[place.caller]!));
		places.sort((a, b) => nth[a.location]! - nth[b.location]! || a.caller - b.caller);
		for (const place of places) place.id = id++;
		sorted.set(node, places);
	}
	return sorted;
}

/** For each number what it is more than the one before. */
function steps(values: readonly number[]): number[] {
	return values.map((v, i) => v - (values[i - 1] ?? 0));
}

function encodeTree(order: Order, places: PlacesOf, nth: readonly number[], functions: number): Out {
	const callees = Array.from({ length: functions + 1 }, () => new Set<number>());
	for (const { node, up } of order) callees[up.fn + 1]!.add(node.fn);
	const out = new Out().varint(order.length).varint([...places.values()].reduce((sum, all) => sum + all.length, 0));
	out.column(callees.map((set) => set.size));
	for (const set of callees) out.column(set);
	out.column(order.map(({ depth }, i) => (i ? order[i - 1]!.depth : -1) + 1 - depth));
	out.column(order.map(({ node, up }) => [...callees[up.fn + 1]!].indexOf(node.fn)));
	out.column(order.map(({ node }) => node.places.size - 1));
	for (const { node } of order) out.column(steps(places.get(node)!.map((place) => nth[place.location]!)));
	for (const { node, up } of order) {
		if (up.places.size < 2) continue;
		const own = places.get(node)!;
		const isSame = (i: number) => own[i - 1]?.location === own[i]!.location;
		out.column(own.map((place, i) => place.caller - (isSame(i) ? own[i - 1]!.caller + 1 : 0)));
	}
	return out;
}

/** The decompressed bytes of a block of kind `profile`. */
export function encodeProfile(plain: PlainProfile): Uint8Array {
	const m = meta(plain.meta);
	const laid = lay(plain, m.period_ns);
	const { text, root } = laid;
	const order = preorder(root);
	const functions = laid.functions.items.map((f) => ({
		name: text(f.name),
		qualname: text(f.qualname ?? f.name),
		file: text(f.file ?? `/srv/app/${f.name}.py`),
		module: text(f.module ?? f.name),
		line: f.line ?? 1,
		category: f.category ?? 1,
		origin: f.origin ?? 0,
	}));
	const { sorted, counts, nth } = sortLocations(laid.locations.items, functions.length);
	const places = placesOf(order, nth);

	const table = new Out().varint(functions.length);
	const columns = ["name", "qualname", "file", "module", "line"] as const;
	for (const key of columns) table.deltas(functions.map((f) => f[key]));
	table.column(functions.map((f) => f.category)).column(functions.map((f) => f.origin));

	const where = new Out().column(counts);
	sorted.forEach((l, i) => {
		const last = sorted[i - 1];
		where.svarint(l.line - (last?.fn === l.fn ? last.line : functions[l.fn]!.line));
	});
	for (const l of sorted) where.svarint(l.endLine - l.line);
	for (const l of sorted) where.svarint(l.column);
	for (const l of sorted) where.svarint(l.endColumn - l.column);
	where.column(sorted.map((l) => l.opcode));
	if (sorted.some((l) => l.inlined)) where.column(sorted.map((l) => l.inlined));

	const tree = encodeTree(order, places, nth, functions.length);

	const shift = plain.shift ?? 0;
	const cells = new Map<string, Cell>();
	plain.samples.forEach((s, i) => {
		const node = (laid.ends[i]?.id ?? -1) + 1;
		const state = ((s.state ?? 1) << 2) | (s.quality ?? 0);
		const bin = Math.floor((s.timeNs ?? 0) / m.bin_ns / 2 ** shift);
		const holder = laid.functions.items.findIndex((f) => f.name === s.heldBy);
		const heldBy = s.heldBy === undefined ? 0 : s.heldBy === "" ? 1 : 2 + holder;
		const lock = s.lock === undefined ? 0 : s.lock + 2;
		const thread = s.thread ?? 0;
		const key = [node, thread, state, bin, heldBy, lock].join();
		const cell = cells.get(key) ?? { node, thread, state, bin, heldBy, lock, samples: 0, weight: 0 };
		cell.samples += s.samples ?? 1;
		cell.weight += s.weightNs ?? (s.samples ?? 1) * m.period_ns;
		cells.set(key, cell);
	});

	const sources = new Out();
	const files = Object.entries(plain.sources ?? {});
	sources.varint(files.length);
	for (const [file, ranges] of files) {
		sources.varint(text(file)).varint(0).varint(ranges.length);
		for (const range of ranges) {
			const bytes = new TextEncoder().encode(range.text);
			sources.varint(range.firstLine).varint(bytes.length).raw(bytes);
		}
	}

	const strings = laid.strings.items.map((s) => new TextEncoder().encode(s));
	const names = new Out().varint(strings.length).column(strings.map((s) => s.length));
	for (const s of strings) names.raw(s);

	return new Out()
		.section(1, new Out().raw(new TextEncoder().encode(JSON.stringify(m))))
		.section(2, names)
		.section(3, table)
		.section(4, where)
		.section(5, tree)
		.section(6, cellsOf(cells, shift, m.period_ns))
		.section(7, stripOf(plain.samples, m))
		.section(8, sources)
		.done();
}

/** The text of a block: what stands in the page. */
export function blockText(bytes: Uint8Array): string {
	return gzipSync(bytes).toString("base64");
}
