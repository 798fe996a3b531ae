// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeProfile } from "../src/data/decode";
import type { DiffRow } from "../src/data/profile";
import { shareHalfWidth, shareSpread, tQuantile, tTwoSided } from "../src/model/intervals";
import { noFilter } from "../src/model/filter";
import { createDerived } from "../src/state/derived";
import { initialState, type State } from "../src/state/state";
import { encodeProfile, type PlainSample, thread } from "./encode";

const MS = 1e6;
const BIN = 2 ** 24;

/** Numbers from 0 to 1, the same each time. */
function random(seed: number): () => number {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return state / 2 ** 32;
	};
}

function differencesOf(samples: readonly PlainSample[], filter: Partial<State["filter"]>): readonly DiffRow[] | null {
	const meta = {
		period_ns: 10 * MS,
		bin_ns: BIN,
		batch_ns: 16 * BIN,
		bins: 4096,
		duration_ns: 4096 * BIN,
		threads: [thread(), thread({ tid: 11, name: "other", main: false })],
	};
	const profile = decodeProfile(encodeProfile({ meta, samples }));
	const state = { ...initialState, unit: "samples" as const, filter: { ...noFilter, ...filter } };
	return createDerived({ profiles: [profile], diff: null })(state).differences();
}

/** One sample each 10 ms; `share` says how often it is in `a`. */
function timed(seconds: number, share: (s: number) => number, next: () => number): PlainSample[] {
	return Array.from({ length: seconds * 100 }, (_, i) => ({
		stack: next() < share(i / 100) ? "main;a" : next() < 0.5 ? "main;b" : "main;c",
		timeNs: i * 10 * MS,
	}));
}

function found(rows: readonly DiffRow[] | null, figure: "self" | "total"): Record<string, string> {
	assert.ok(rows);
	return Object.fromEntries(
		rows.filter((row) => row[figure].verdict !== "same").map((row) => [row.name, row[figure].verdict]),
	);
}

test("nothing is compared until a part is chosen", () => {
	const samples = timed(10, () => 0.5, random(1));
	assert.equal(differencesOf(samples, {}), null);
	assert.equal(differencesOf(samples, { states: 1 }), null);
	assert.equal(differencesOf(samples, { time: [0, 1e15] }), null);
});

test("what a stretch of time has more of is told, in self and in total", () => {
	const samples = timed(60, (s) => (s >= 20 && s < 40 ? 0.8 : 0.2), random(2));
	const rows = differencesOf(samples, { time: [1192 * BIN, 2384 * BIN] });
	assert.deepEqual(found(rows, "self"), { a: "more", b: "less", c: "less" });
	assert.deepEqual(found(rows, "total"), { a: "more", b: "less", c: "less" });
	const a = rows!.find((row) => row.name === "a")!.total;
	assert.ok(Math.abs(a.after - 0.8) < 0.05 && Math.abs(a.before - 0.2) < 0.05);
	assert.ok(Math.abs(a.change - 0.6) < a.half_width + 0.02);
	const all = samples.length;
	assert.equal(rows!.reduce((sum, row) => sum + row.self.before_samples + row.self.after_samples, 0), all);
});

test("what is only in one of both is told so", () => {
	const samples: PlainSample[] = Array.from({ length: 4000 }, (_, i) => ({
		stack: i * 10 * MS < 1200 * BIN ? "main;early" : "main;late",
		timeNs: i * 10 * MS,
	}));
	const rows = differencesOf(samples, { time: [1200 * BIN, 2400 * BIN] });
	assert.deepEqual(found(rows, "self"), { early: "gone", late: "new" });
});

test("chosen threads are compared with the others, and with a range of time at all other times", () => {
	const samples: PlainSample[] = Array.from({ length: 4000 }, (_, i) => ({
		stack: i % 2 === 0 ? "main;a" : i % 4 === 1 ? "main;a" : "main;b",
		thread: i % 2,
		timeNs: i * 10 * MS,
	}));
	const rows = differencesOf(samples, { threads: [1] });
	assert.deepEqual(found(rows, "self"), { a: "less", b: "new" });
	const ranged = differencesOf(samples, { threads: [1], time: [0, 1200 * BIN] });
	assert.deepEqual(found(ranged, "self"), {});
});

test("where nothing differs, few recordings have a finding", () => {
	/* The rate allows 5 %: of 400 recordings, 20 on average, and 48 with a chance below 1e-7. */
	const next = random(3);
	let alarms = 0;
	for (let i = 0; i < 400; i++) {
		const rows = differencesOf(timed(20, () => 0.3, next), { time: [300 * BIN, 700 * BIN] });
		if (Object.keys(found(rows, "self")).length > 0) alarms++;
	}
	assert.ok(alarms < 48, String(alarms));
});

test("the spread of a share is that of its interval", () => {
	const all = Float64Array.from({ length: 20 }, () => 50);
	const hit = all.map((n, i) => (i % 4 === 0 ? n : 0));
	const { share, error, freedom } = shareSpread(hit, all);
	assert.equal(share, 0.25);
	assert.equal(freedom, 19);
	assert.ok(Math.abs(tQuantile(0.975, freedom) * error - shareHalfWidth(hit, all)) < 1e-12);
	assert.ok(Math.abs(tTwoSided(tQuantile(0.975, 7.5), 7.5) - 0.05) < 1e-9);
	assert.ok(Math.abs(tTwoSided(1.959963984540054, Infinity) - 0.05) < 1e-9);
	assert.ok(shareSpread(new Float64Array(20), all).error > 0);
});
