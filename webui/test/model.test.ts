// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeProfile } from "../src/data/decode";
import { Quality, type Profile, State as Bit, stripKinds } from "../src/data/profile";
import { Reason } from "../src/data/words";
import { batchingOf } from "../src/model/batches";
import { Doing, type Filter, noFilter, rangeOf, sieveOf } from "../src/model/filter";
import { callersOf, calleesOf, invert } from "../src/model/grouped";
import { cut, display, names, shortPath, unknownLine } from "../src/model/names";
import * as numbers from "../src/model/numbers";
import { wilsonHalfWidth } from "../src/model/intervals";
import { hasState, reasonOf } from "../src/model/reasons";
import { childrenOf, heaviestPath, nodeAt, pathOf, placeOf, type Tree } from "../src/model/tree";
import { createDerived, type Shown } from "../src/state/derived";
import { initialState, type State } from "../src/state/state";
import { encodeProfile, process, thread, type PlainProfile } from "./encode";

const inSamples: State = { ...initialState, unit: "samples" };

function shownOf(plain: PlainProfile, change: Partial<State> = {}): Shown {
	const profile = decodeProfile(encodeProfile(plain));
	return createDerived({ profiles: [profile], diff: null })({ ...inSamples, ...change });
}

function stacks(samples: Record<string, number>): PlainProfile {
	return { samples: Object.entries(samples).map(([stack, n]) => ({ stack, samples: n })) };
}

function written(p: Profile, tree: Tree): string[] {
	const { full } = names(p);
	return Array.from({ length: tree.count }, (_, i) => {
		return `${".".repeat(tree.depth[i]!)}${full(tree.fn[i]!)} ${tree.total[i]} ${tree.self[i]}`;
	});
}

function fn(p: Profile, name: string): number {
	return [...p.functions.name].findIndex((id) => p.strings[id] === name);
}

const recursive = stacks({ "main;f;g;f;h": 1, "main;f;f": 2, "other;f;h": 4, "main;h": 8 });

test("inverted, roots are innermost functions and callers hang below", () => {
	const shown = shownOf(recursive);
	assert.deepEqual(written(shown.profile, shown.inverted()), [
		"h 13 0", ".main 8 8", ".f 5 0", "..other 4 4", "..g 1 0", "...f 1 0", "....main 1 1",
		"f 2 0", ".f 2 0", "..main 2 2",
	]);
});

test("a line that nobody knows is not the one where the function begins", () => {
	const { profile } = shownOf(recursive);
	const { place } = names(profile);
	const f = fn(profile, "f");
	const begins = profile.functions.line[f]!;
	assert.ok(begins > 0 && place(f).endsWith(`:${begins}`));
	assert.equal(place(f, 0), place(f));
	assert.ok(place(f, begins + 3).endsWith(`:${begins + 3}`));
	assert.ok(!place(f, unknownLine).includes(":"));
});

test("an inverted tree that would be too large is cut, and says where", () => {
	const shown = shownOf(recursive);
	const tree = invert(shown.tree(), -1, 4);
	const cutNodes = written(shown.profile, tree).filter((_, i) => tree.cut?.[i]);
	assert.deepEqual(cutNodes, ["..g 1 0"]);
	assert.equal(tree.total.filter((_, i) => tree.depth[i] === 0).reduce((a, b) => a + b), 15);
});

test("zoomed into a root only that is grown", () => {
	const shown = shownOf(recursive);
	const f = fn(shown.profile, "f");
	const tree = invert(shown.tree(), f);
	assert.deepEqual(written(shown.profile, tree), ["h 13 0", "f 2 0", ".f 2 0", "..main 2 2"]);
	assert.deepEqual([...tree.cut!], [1, 0, 0, 0]);
});

test("callers and callees of a function count each sample once under recursion", () => {
	const shown = shownOf(recursive);
	const p = shown.profile;
	assert.deepEqual(written(p, callersOf(shown.tree(), fn(p, "f"))), ["f 7 0", ".other 4 4", ".main 3 3"]);
	assert.deepEqual(written(p, calleesOf(shown.tree(), fn(p, "f"))), [
		"f 7 2", ".h 4 4", ".g 1 0", "..f 1 0", "...h 1 1",
	]);
	assert.equal(callersOf(shown.tree(), p.functions.rows - 1).count, 0);
});

test("figures of a node of any tree are those of the tree", () => {
	const shown = shownOf(recursive);
	const f = fn(shown.profile, "f");
	for (const tree of [shown.tree(), shown.inverted(), shown.callers(f), shown.callees(f)]) {
		for (let i = 0; i < tree.count; i++) {
			const { self, total } = shown.figures(tree, i);
			assert.equal(total.value, tree.total[i]);
			assert.equal(self.value, tree.self[i]);
			assert.equal(total.share, tree.total[i]! / 15);
			assert.ok(Math.abs(total.halfWidth - wilsonHalfWidth(tree.total[i]!, 15)) < 1e-12);
		}
	}
});

test("places name nodes whatever their numbers are", () => {
	const shown = shownOf(recursive);
	for (const tree of [shown.tree(), shown.inverted()]) {
		for (let i = 0; i < tree.count; i++) assert.equal(nodeAt(tree, placeOf(tree, i)), i);
	}
	assert.equal(nodeAt(shown.tree(), { base: 999, depth: 0 }), -1);
	assert.equal(nodeAt(shown.tree(), { base: 0, depth: 50 }), -1);
	const last = shown.tree().count - 1;
	assert.equal(pathOf(shown.tree(), last).length, shown.tree().depth[last]! + 1);
	assert.deepEqual(childrenOf(shown.tree(), -1).map((i) => shown.tree().depth[i]), [0, 0]);
	const heaviest = heaviestPath(shown.tree()).map((i) => names(shown.profile).full(shown.tree().fn[i]!));
	assert.deepEqual(heaviest, ["main", "h"]);
});

test("the table of functions: self, and total once a sample", () => {
	const shown = shownOf(recursive);
	const rows = shown.rows();
	const table = new Map(Array.from(rows.fn, (f, i) => [names(shown.profile).full(f), [rows.self[i], rows.total[i]]]));
	assert.deepEqual(Object.fromEntries(table), { main: [0, 11], f: [2, 7], g: [0, 1], h: [13, 13], other: [0, 4] });
	const f = fn(shown.profile, "f");
	const at = rows.fn.indexOf(f);
	const widths = shown.rowHalfWidths([at]);
	const { self, total } = shown.functionFigures(f);
	assert.deepEqual([self.value, total.value, total.samples], [2, 7, 7]);
	assert.deepEqual([widths.self[0], widths.total[0]], [self.halfWidth, total.halfWidth]);
});

test("the table by line has a row for each line", () => {
	const shown = shownOf(stacks({ "f:1;f:2": 1, "f:1;f:1": 2, "f:2": 4 }), { by: "line" });
	const rows = shown.rows();
	const table = Array.from(rows.line, (line, i) => [line, rows.self[i], rows.total[i]]);
	assert.deepEqual(table.sort((a, b) => a[0]! - b[0]!), [[1, 2, 3], [2, 5, 5]]);
	assert.equal(shown.rowHalfWidths([0, 1]).total.length, 2);
});

test("intervals come from batches of time, as they are spread", () => {
	const batch = 2 ** 24;
	const bursts = Array.from({ length: 32 }, (_, b) => {
		return { stack: b < 16 ? "a" : "b", samples: 100, timeNs: b * batch };
	});
	const even = bursts.flatMap((s) => ["a", "b"].map((stack) => ({ ...s, stack, samples: 50 })));
	const width = (samples: PlainProfile["samples"]) => {
		const shown = shownOf({ samples });
		return shown.functionFigures(fn(shown.profile, "a")).total.halfWidth;
	};
	assert.ok(Math.abs(width(even) - wilsonHalfWidth(1600, 3200)) < 1e-12);
	assert.ok(width(bursts) > 5 * width(even));
});

const threads = {
	meta: {
		threads: [
			thread(),
			thread({ tid: 11, name: "io", main: false }),
			thread({ tid: 12, main: false, idle: true, process: 1 }),
		],
		processes: [process(), process({ pid: 20 })],
		ticks: 100,
	},
	samples: [
		{ stack: "main;run", samples: 10, state: Bit.onCpu | Bit.hasGil },
		{ stack: "main;wait", samples: 20, state: Reason.socket << 8, thread: 1, timeNs: 2 ** 25 },
		{ stack: "main;lock", samples: 5, state: Bit.wantsGil, thread: 1, quality: Quality.partial },
		{ stack: "main;gc", samples: 3, state: Bit.onCpu | Bit.hasGil | Bit.inGc, timeNs: 2 ** 26 },
		{ stack: "main;gone", samples: 2, state: Bit.unknown | Bit.exception },
		{ stack: "idle", samples: 100, state: 0, thread: 2 },
	],
};

function samplesWith(filter: Partial<Filter>): number {
	return shownOf(threads, { filter: { ...noFilter, ...filter } }).samples;
}

test("idle threads are hidden unless they are asked for; --skip-idle counts what runs", () => {
	assert.equal(samplesWith({}), 40);
	assert.equal(shownOf(threads).idleThreads, 1);
	assert.equal(samplesWith({ idle: "keep" }), 140);
	assert.equal(samplesWith({ threads: [2] }), 100);
	assert.equal(samplesWith({ idle: "skip" }), 13);
	assert.equal(samplesWith({ processes: [1], idle: "keep" }), 100);
});

test("states are those of --state", () => {
	const found = Object.entries(Doing).map(([name, states]) => [name, samplesWith({ states })]);
	const expected = { onCpu: 13, waiting: 25, gil: 13, wantsGil: 5, gc: 3, exception: 2, socket: 20 };
	assert.deepEqual(found.filter(([, samples]) => samples !== 0), Object.entries(expected));
	assert.equal(samplesWith({ states: Doing.gc | Doing.wantsGil }), 8);
});

test("a range of time takes the bins in it", () => {
	assert.equal(samplesWith({ time: [0, 2 ** 25] }), 17);
	assert.equal(samplesWith({ time: [2 ** 25, 2 ** 26] }), 20);
	assert.equal(samplesWith({ time: [2 ** 40, 2 ** 41] }), 0);
});

test("statistics are those of the report", () => {
	const s = shownOf(threads).statistics();
	assert.deepEqual([s.samples, s.byQuality], [40, [35, 0, 0, 5]]);
	const counts = Object.entries(s.states).map(([name, figure]) => [name, figure.samples]);
	assert.deepEqual(Object.fromEntries(counts), {
		onCpu: 13, hasGil: 13, wantsGil: 5, inGc: 3, exception: 2, unknown: 2, jit: 0, waiting: 25,
	});
	assert.deepEqual(s.threads.map((t) => [t.thread, t.samples]), [[0, 15], [1, 25]]);
	assert.deepEqual(s.processes.map((p) => [p.process, p.samples, p.threads]), [[0, 40, 2]]);
	assert.ok(Math.abs(s.states.onCpu.halfWidth - wilsonHalfWidth(13, 40)) < 1e-12);
	assert.equal(s.gilHeld?.share, 13 / 200);
});

test("what was waited for, the most first", () => {
	const told = shownOf(threads).waits().map(({ text, samples, share }) => [text, samples, share]);
	assert.deepEqual(told, [["sockets", 20, 0.5], ["the GIL", 5, 0.125]]);
	const idle = shownOf(threads, { filter: { ...noFilter, idle: "keep" } }).waits();
	const counts = idle.map(({ text, samples }) => [text, samples]);
	assert.deepEqual(counts, [["not known", 100], ["sockets", 20], ["the GIL", 5]]);
	assert.deepEqual(shownOf(threads, { filter: { ...noFilter, states: Doing.wantsGil } }).waits(), []);
});

test("who is ready without a CPU still counts as running, and waits for a CPU", () => {
	const state = (Reason.cpu << 8) | Bit.onCpu;
	const p: PlainProfile = {
		samples: [
			{ stack: "main", samples: 6, state: Bit.onCpu },
			{ stack: "main", samples: 4, state },
		],
	};
	const waits = shownOf(p).waits().map(({ text, samples, share }) => [text, samples, share]);
	assert.deepEqual(waits, [["a CPU", 4, 0.4]]);
	assert.ok(hasState(state, Bit.onCpu) && hasState(state, Reason.cpu << 8) && !hasState(state, 0));
	assert.equal(reasonOf(state | Bit.unknown), Reason.unknown);
	const [ran, ready] = [0, stripKinds.indexOf("ready")];
	const states = shownOf(p).functionStates(0);
	assert.ok(states[ran]! * 4 === states[ready]! * 6 && states[ready]! > 0);
	assert.equal(decodeProfile(encodeProfile(p)).strip.samples[ready], 4);
});

test("what a newer plumb says was waited for is another thing", () => {
	assert.equal(reasonOf(15 << 8), Reason.other);
	assert.equal(reasonOf((Reason.sleep << 8) | Bit.onCpu), Reason.unknown);
	assert.ok(hasState(Reason.sleep << 8, Reason.sleep << 8) && !hasState(Reason.sleep << 8, Reason.lock << 8));
});

test("shares of states are of the time: samples of a lower rate stand for more", () => {
	const samples = [
		{ stack: "main:1;run:2", state: Bit.onCpu | Bit.hasGil, samples: 60, weightNs: 60e6 },
		{ stack: "main:1;wait:3", state: 0, samples: 10, weightNs: 90e6 },
	];
	const lowered = { samples, meta: { taken_ns: 200e6, ticks: 100 } };
	const wall = shownOf(lowered).statistics();
	assert.equal(wall.states.onCpu.share, 0.4);
	assert.equal(wall.states.onCpu.samples, 60);
	assert.equal(wall.threads[0]?.states.waiting, 0.6);
	assert.ok(Math.abs((wall.gilHeld?.share ?? 0) - 60 / 200) < 1e-12);
	const cpu = shownOf({ ...lowered, meta: { mode: "cpu" } }).statistics();
	assert.equal(cpu.states.onCpu.share, 60 / 70);
});

test("ticks are the whole of all samples, and of no others", () => {
	const held = (profile: PlainProfile, filter: Partial<State["filter"]> = {}) =>
		shownOf(profile, { filter: { ...initialState.filter, ...filter } }).statistics().gilHeld;
	assert.equal(held({ ...threads, meta: { ...threads.meta, selected: true } }), null);
	assert.equal(held(threads, { states: 1 }), null);
	assert.equal(held(threads, { processes: [0] })?.share, 13 / 100);
});

test("to which process a thread belongs is looked up once, however many processes there are", () => {
	const many = Array.from({ length: 1000 }, (_, i) => i);
	const profile = decodeProfile(encodeProfile({
		meta: {
			threads: many.map((i) => thread({ tid: i, process: i })),
			processes: many.map((i) => process({ pid: 1000 + i })),
		},
		samples: many.map((i) => ({ stack: "main", samples: 1 + i, thread: i })),
	}));
	let looks = 0;
	for (const one of profile.meta.threads) {
		const own = one.process;
		Object.defineProperty(one, "process", { get: () => (looks++, own) });
	}
	const { processes } = createDerived({ profiles: [profile], diff: null })(inSamples).statistics();
	assert.deepEqual([processes.length, processes[0]?.process, processes[0]?.samples], [1000, 999, 1000]);
	assert.ok(looks <= 8 * many.length, `${looks} looks`);
});

test("what threads did in a function, each sample once", () => {
	const shown = shownOf(threads);
	const of = (name: string) => shown.functionStates(fn(shown.profile, name)).map((ns) => ns / 1e6);
	assert.deepEqual(of("run"), [10, 0, 0, 0, 0, 0]);
	assert.deepEqual(of("lock"), [0, 5, 0, 0, 0, 0]);
	assert.deepEqual(of("wait"), [0, 0, 20, 0, 0, 0]);
	assert.deepEqual(of("gc"), [0, 0, 0, 3, 0, 0]);
	assert.deepEqual(of("gone"), [0, 0, 0, 0, 2, 0]);
	const tree = shown.tree();
	const sums = shown.leafStates(tree).map((state) => state.reduce((a, b) => a + b));
	assert.deepEqual(sums, [10, 5, 20, 3, 2, 0]);
	assert.equal(sums.reduce((a, b) => a + b), tree.self.reduce((a, b) => a + b));
});

test("the timeline spreads bins over columns and loses nothing", () => {
	const shown = shownOf(threads);
	for (const columns of [1, 7, 100, 5000]) {
		const strip = shown.strip(0, 2 ** 30, columns);
		assert.deepEqual(strip.threads.map((t) => t.thread), [0, 1]);
		const sums = strip.threads.map((t) => t.samples.reduce((a, b) => a + b));
		assert.ok(Math.abs(sums[0]! - 15) < 1e-9 && Math.abs(sums[1]! - 25) < 1e-9);
	}
	const part = shown.strip(2 ** 25, 2 ** 26, 4);
	assert.equal(part.threads[1]!.samples.reduce((a, b) => a + b), 20);
});

test("search finds names and files; what lies below a match counts once", () => {
	const share = (search: string, regex = false) => shownOf(recursive, { search, regex }).search().share * 15;
	assert.equal(share("F"), 7);
	assert.equal(share("^(f|g) ", true), 7);
	assert.equal(share("other.py"), 4);
	assert.equal(share("nothing"), 0);
	assert.equal(shownOf(recursive).search().rows, null);
	assert.match(shownOf(recursive, { search: "(", regex: true }).search().error ?? "", /regular expression/i);
});

test("lines of a file: figures, neighbours, expressions and instructions", () => {
	const at = (line: number, column: number, opcode = 0) => ({ fn: "f", line, column, endColumn: column + 3, opcode });
	const caller = { fn: "main", line: 7 };
	const shown = shownOf({
		meta: { opcodes: { "5": "BINARY_OP" } },
		functions: [{ name: "f", file: "/a.py" }, { name: "main", file: "/b.py" }],
		samples: [
			{ stack: [caller, at(3, 0, 6)], samples: 4 },
			{ stack: [caller, at(3, 8)], samples: 2 },
			{ stack: [caller, at(3, 0), at(3, 0)], samples: 1 },
			{ stack: [at(3, 0), { fn: "g", line: 9 }], samples: 8 },
		],
		sources: { "/a.py": [{ firstLine: 1, text: "x\n" }] },
	});
	const { strings } = shown.profile;
	const files = shown.sourceFiles();
	assert.deepEqual(files.map((f) => [strings[f.file], f.self, f.total, f.hasText]), [
		["/srv/app/g.py", 8, 8, false], ["/a.py", 7, 15, true], ["/b.py", 0, 7, false],
	]);
	const lines = shown.sourceLines(files[1]!.file);
	assert.deepEqual([[...lines.lines], [...lines.self], [...lines.total]], [[3], [7], [15]]);
	const linked = (links: ReturnType<typeof lines.callers>) =>
		links.map((l) => [names(shown.profile).full(l.fn), l.line, l.value]);
	assert.deepEqual(linked(lines.callers(0)), [["main", 7, 7], ["f", 3, 1]]);
	assert.deepEqual(linked(lines.callees(0)), [["g", 9, 8], ["f", 3, 1]]);
	assert.deepEqual(lines.expressions(0).map((e) => [e.column, e.endColumn, e.self]), [[0, 3, 5], [8, 11, 2]]);
	assert.deepEqual(lines.opcodes(0), [{ name: "BINARY_OP", samples: 4 }]);
	const { self, total } = lines.figures(0);
	assert.deepEqual([self.value, total.value, total.share], [7, 15, 1]);
});

test("collapsed text has a line for each stack and nothing that breaks one apart", () => {
	const plain = stacks({ "main;work": 3 });
	const shown = shownOf({ samples: [...plain.samples, { stack: [{ fn: "a;b\nc", line: 1 }], samples: 2 }] });
	const [tid] = shown.profile.meta.threads.map((one) => `tid:${one.tid}`);
	assert.equal(shown.collapsed(), `${tid};main.py:main:0;work.py:work:0 3\n${tid};a:b c.py:a:b c:0 2\n`);
});

test("numbers read as in the text report", () => {
	const { count, percent, rate, sharePm, time, timePm } = numbers;
	assert.deepEqual([0, 999, 1000, 12301, 1e9].map(count), ["0", "999", "1,000", "12,301", "1,000,000,000"]);
	assert.deepEqual([0, 12, 1500, 99.9e3, 845e6, 12.34e9, 125e9, 11520e9].map(time), [
		"0 s", "12 ns", "1.5 us", "100 us", "845 ms", "12.3 s", "2m05s", "3h12m",
	]);
	assert.deepEqual([0, 0.00005, 0.0005, 0.031, 0.52, 1].map(percent), [
		"0 %", "<0.01 %", "0.05 %", "3.1 %", "52 %", "100 %",
	]);
	assert.deepEqual([sharePm(0.52, 0.0104), sharePm(0.031, 0.002), sharePm(1, 0.2)], [
		"52 % ±1.1", "3.1 % ±0.2", "100 % ±20",
	]);
	assert.equal(timePm(6.4e9, 0.05e9), "6.4 s ±0.1");
	assert.deepEqual([rate(1000), rate(0.5), rate(9.876)], ["1,000/s", "0.5/s", "9.88/s"]);
});

test("text of the program is shown without what hides or turns it around", () => {
	assert.equal(display("a\u202eb\u2028c\u0000\n\t\u{e0041}"), "a\\u202eb\\u2028c\\x00\\n\\t\\U000e0041");
	assert.equal(display("größe 名前 🎉 \ufffd"), "größe 名前 🎉 \ufffd");
	assert.equal(cut("abcdef", 4), "abc…");
	assert.equal(cut("ab🎉cd", 4), "ab…");
	assert.equal(cut("abcd", 4), "abcd");
	const paths = ["/x/json/__init__.py", "/x/a.py", "__init__.py", ""];
	assert.deepEqual(paths.map(shortPath), ["json/__init__.py", "a.py", "__init__.py", ""]);
});

test("a stack of 20,000 frames of recursion is no trouble for any question", () => {
	const deep = Array.from({ length: 20_000 }, (_, i) => ({ fn: i % 3 ? "f" : "g", line: 1 + (i % 5) }));
	const samples = [20_000, 15_000, 7].map((n) => ({ stack: deep.slice(0, n), samples: n }));
	const shown = shownOf({ samples });
	const f = fn(shown.profile, "f");
	assert.equal(shown.tree().count, 20_000);
	assert.equal(shown.inverted().total[0], 35_000);
	assert.deepEqual([shown.callers(f).total[0], shown.callees(f).total[0]], [35_007, 35_007]);
	assert.equal(shown.functionFigures(f).total.samples, 35_007);
	assert.equal(heaviestPath(shown.tree()).length, 20_000);
	const folding = shownOf({ samples }, { transforms: [{ type: "fold-recursion", fn: f }], by: "line" });
	assert.equal(folding.tree().whole, 35_007);
	assert.ok(folding.tree().count < 20_000);
});

test("a range of time has batches of its own, as short as 64 of them can be", () => {
	const bin = 2 ** 20;
	const samples = Array.from({ length: 1024 }, (_, i) => ({ stack: "f", samples: 1, timeNs: i * bin }));
	const profile = decodeProfile(encodeProfile({ samples }));
	const shape = createDerived({ profiles: [profile], diff: null })(inSamples).tree();
	const of = (time: Filter["time"]) => batchingOf(profile, sieveOf(profile, { ...noFilter, time }), shape);
	assert.equal(of(null).length * bin, profile.meta.batch_ns);
	// No batch is shorter than 2^24 ns.
	assert.deepEqual(of([0, 64 * bin]), { first: 0, length: 16, count: 4 });
	assert.deepEqual(of([100 * bin, 1000.5 * bin]), { first: 100, length: 16, count: 57 });
	assert.deepEqual(rangeOf(profile, [0.5 * bin, 7 * bin]), [0, 7 * bin]);
	assert.equal(rangeOf(profile, [0, 1024 * bin]), null);
});
