// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeProfile } from "../src/data/decode";
import { State as Bit } from "../src/data/profile";
import { missed } from "../src/model/chart";
import { noFilter } from "../src/model/filter";
import { momentsOf } from "../src/model/moments";
import { createDerived, type Shown } from "../src/state/derived";
import { initialState, type State } from "../src/state/state";
import { random } from "./big";
import { encodeProfile, thread, type PlainProfile, type PlainSample } from "./encode";

const period = 1e6;
const bin = 4e6;

function shownOf(plain: PlainProfile, change: Partial<State> = {}): Shown {
	const meta = { period_ns: period, bin_ns: bin, bins: 64, batch_ns: 2 * bin, duration_ns: 64 * bin, ...plain.meta };
	const profile = decodeProfile(encodeProfile({ ...plain, meta }));
	return createDerived({ profiles: [profile], diff: null })({ ...initialState, startup: false, ...change });
}

function fn({ profile }: Shown, name: string): number {
	return [...profile.functions.name].findIndex((id) => profile.strings[id] === name);
}

/** Four samples in each bin from one to another, as many as a thread has that is always sampled. */
function during(from: number, to: number, stack: string, more: Partial<PlainSample> = {}): PlainSample[] {
	return Array.from({ length: to - from }, (_, i) => ({ stack, samples: 4, timeNs: (from + i) * bin, ...more }));
}

/** Level, function, and from which bin to which: "0 main 0 10". */
function written(shown: Shown, thread = 0): string[] {
	const chart = shown.chart(thread);
	const tree = shown.tree();
	return Array.from({ length: chart.count }, (_, box) => {
		const node = chart.node[box]!;
		const name = node === missed ? "missed" : shown.profile.strings[shown.profile.functions.name[tree.fn[node]!]!]!;
		const from = chart.start[box]! / bin;
		return `${String(chart.depth[box])} ${name} ${String(from)} ${String(from + chart.total[box]! / bin)}`;
	});
}

test("what goes on is one box, and callees stand where they ran", () => {
	const shown = shownOf({
		samples: [...during(0, 3, "main;a;x"), ...during(3, 5, "main;b"), ...during(5, 8, "main;a;x")],
	});
	assert.deepEqual(written(shown), [
		"0 main 0 8", "1 a 0 3", "2 x 0 3", "1 b 3 5", "1 a 5 8", "2 x 5 8",
	]);
	assert.equal(shown.chart(0).columnNs, bin);
});

test("where a thread was not sampled between two samples it was missed, and before and after it was not there", () => {
	const samples = [...during(2, 4, "main"), ...during(7, 9, "main")];
	assert.deepEqual(written(shownOf({ samples })), ["0 main 2 4", "0 missed 4 7", "0 main 7 9"]);
	const cpu = shownOf({ samples, meta: { mode: "cpu" } });
	assert.deepEqual(written(cpu), ["0 main 2 4", "0 main 7 9"]);
});

test("filters leave out what they leave out everywhere", () => {
	const plain = {
		samples: [...during(0, 2, "main;a"), ...during(2, 4, "main;b", { state: 0 }), ...during(4, 6, "main;a")],
		meta: { threads: [thread(), thread({ tid: 11 })] },
	};
	const running = shownOf(plain, { filter: { ...noFilter, states: Bit.onCpu } });
	assert.deepEqual(written(running), ["0 main 0 2", "1 a 0 2", "0 main 4 6", "1 a 4 6"]);
	const part = shownOf(plain, { filter: { ...noFilter, time: [bin, 3 * bin] } });
	assert.deepEqual(written(part), ["0 main 0 2", "1 a 0 1", "1 b 1 2"]);
	assert.deepEqual(written(shownOf(plain), 1), []);
});

test("a million samples are no million boxes, and time is kept", () => {
	const next = random(5);
	const samples = Array.from({ length: 20_000 }, () => ({
		stack: `main;f${String(Math.floor(next() * 40))};g${String(Math.floor(next() * 40))}`,
		timeNs: Math.floor(next() * 64) * bin,
	}));
	const shown = shownOf({ samples });
	const chart = shown.chart(0);
	assert.ok(chart.count < 64 * 60, String(chart.count));
	const roots = Array.from(chart.total).filter((_, box) => chart.depth[box] === 0);
	assert.ok(Math.abs(roots.reduce((a, b) => a + b) - 64 * bin) < 1);
	for (let box = 0; box < chart.count; box++) {
		const up = chart.parent[box]!;
		if (up < 0) continue;
		assert.ok(chart.start[box]! >= chart.start[up]! - 1);
		assert.ok(chart.start[box]! + chart.total[box]! <= chart.start[up]! + chart.total[up]! + 1);
	}
});

test("the stack at an instant is the one that most samples have then", () => {
	const shown = shownOf({
		samples: [
			...during(0, 2, "main;a"),
			{ stack: "main;b", samples: 3, timeNs: 2 * bin, state: 0 },
			{ stack: "main;a", samples: 1, timeNs: 2 * bin },
			...during(2, 3, "other", { thread: 1 }),
		],
		meta: { threads: [thread(), thread({ tid: 11 })] },
	});
	const at = (thread: number, from: number, to: number) => {
		const moment = shown.momentAt(thread, [from * bin, to * bin]);
		if (!moment) return null;
		const name = shown.profile.strings[shown.profile.functions.name[shown.tree().fn[moment.node]!]!];
		return [name, moment.state, moment.samples, moment.all];
	};
	assert.deepEqual(at(0, 0, 1), ["a", 1, 4, 4]);
	assert.deepEqual(at(0, 2, 3), ["b", 0, 3, 4]);
	assert.deepEqual(at(0, 0, 3), ["a", 1, 9, 12]);
	assert.deepEqual(at(1, 2, 2.5), ["other", 1, 4, 4]);
	assert.equal(at(1, 0, 1), null);
	assert.equal(at(0, 10, 20), null);
});

test("when a function was on the stack, by thread and column", () => {
	const shown = shownOf({
		samples: [...during(0, 2, "main;a;x"), ...during(2, 4, "main;b"), ...during(8, 9, "a", { thread: 1 })],
		meta: { threads: [thread(), thread({ tid: 11 }), thread({ tid: 12 })] },
	});
	const ran = shown.ran(fn(shown, "a"), { durationNs: 64 * bin, columns: 32, full: 8 });
	assert.deepEqual([...ran.keys()], [0, 1]);
	assert.deepEqual([...ran.get(0)!.subarray(0, 4)], [1, 0, 0, 0]);
	assert.deepEqual([...ran.get(1)!.subarray(3, 6)], [0, 0.5, 0]);
	assert.equal(shown.ran(fn(shown, "b"), { durationNs: 64 * bin, columns: 32, full: 8 }).get(0)![1], 1);
});

test("cells of any order and many bins come in the order of time", () => {
	const next = random(9);
	const count = 5000;
	const column = (most: number) => Uint32Array.from({ length: count }, () => Math.floor(next() * most));
	const cells = {
		count, thread: column(7), bin: column(1e6), place: new Int32Array(count), state: new Uint16Array(count),
		samples: new Float64Array(count), weight: null, heldBy: null, lock: null, binNs: 1, bins: 1e6,
	};
	const { start, cell } = momentsOf(cells, 7);
	assert.equal(new Set(cell).size, count);
	for (let t = 0; t < 7; t++) {
		for (let i = start[t]!; i < start[t + 1]!; i++) {
			assert.equal(cells.thread[cell[i]!], t);
			if (i > start[t]!) assert.ok(cells.bin[cell[i - 1]!]! <= cells.bin[cell[i]!]!);
		}
	}
});
