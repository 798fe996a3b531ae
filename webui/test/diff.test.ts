// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import type { DiffFigure, DiffReport, DiffRow, Verdict } from "../src/data/profile";
import { diffTree, weightsAfter, weightsGone, weightsOfBoth } from "../src/model/diff";
import { tookText } from "../src/views/diffText";
import { changesOf, orderOfChanges, pointsText, qText, relativeText } from "../src/views/changeText";

function figure(before: number, after: number, verdict: Verdict = "same"): DiffFigure {
	return {
		verdict,
		before,
		after,
		change: after - before,
		half_width: 0.012,
		relative: before > 0 ? after / before - 1 : null,
		relative_half_width: null,
		p: 0.5,
		q: 0.5,
		detectable: null,
		before_samples: Math.round(before * 1000),
		after_samples: Math.round(after * 1000),
	};
}

function row(name: string, caller: number | null, before: number, after: number, verdict: Verdict = "same"): DiffRow {
	const value = figure(before, after, verdict);
	return { name, qualname: name, file: "a.py", line: 1, kind: "python", caller, self: value, total: value };
}

function reportOf(list: DiffRow[]): DiffReport {
	const side = { recordings: null, runs: 1, samples: 1000, weight_ns: 1e9 };
	return {
		schema: "plumb.diff/1",
		made_by: null,
		normalized_by: { scale: "time", function: null },
		variance: "batches",
		false_discovery_rate: { self: 0.03, total: 0.01 },
		smallest_change: 0.02,
		moved: 0,
		before: side,
		after: side,
		all: null,
		per: null,
		changes: { self: 0, total: 0 },
		rows: "paths",
		list,
	};
}

/* main calls work, parse and old; old calls deep; work calls step. Rows stand in no order. */
const report = reportOf([
	row("step", 3, 0.1, 0.3),
	row("old", 2, 0.2, 0, "gone"),
	row("main", null, 1, 1),
	row("work", 2, 0.3, 0.5, "more"),
	row("parse", 2, 0.4, 0.4),
	row("deep", 1, 0.15, 0, "gone"),
	row("lost", 4, 0.05, 0, "gone"),
]);

function shown(weights: Float64Array): [string, number, number][] {
	const tree = diffTree(report, weights);
	return Array.from(tree.row, (at, i) => [
		report.list[at].name, tree.depth[i], Math.round(tree.total[i] * 1000) / 1000,
	]);
}

test("the tree of what is there after, heaviest callees first", () => {
	assert.deepEqual(shown(weightsAfter(report)), [
		["main", 0, 1], ["work", 1, 0.5], ["step", 2, 0.3], ["parse", 1, 0.4],
	]);
	const tree = diffTree(report, weightsAfter(report));
	assert.deepEqual([...tree.end], [4, 3, 3, 4]);
	assert.deepEqual([...tree.parent], [-1, 0, 1, 0]);
});

test("what is gone hangs below the callers that are still there", () => {
	assert.deepEqual(shown(weightsGone(report)), [
		["main", 0, 0.25], ["old", 1, 0.2], ["deep", 2, 0.15], ["parse", 1, 0.05], ["lost", 2, 0.05],
	]);
});

test("with both widths callees never stick out of their caller", () => {
	const tree = diffTree(report, weightsOfBoth(report));
	assert.equal(tree.count, report.list.length);
	const callees = new Float64Array(tree.count);
	for (let i = 0; i < tree.count; i++) if (tree.parent[i] >= 0) callees[tree.parent[i]] += tree.total[i];
	for (let i = 0; i < tree.count; i++) assert.ok(callees[i] <= tree.total[i] + 1e-12);
});

test("a path of 100,000 frames", () => {
	const deep = reportOf(Array.from({ length: 100_000 }, (_, i) => row(`f${i}`, i === 0 ? null : i - 1, 1, 1)));
	const tree = diffTree(deep, weightsAfter(deep));
	assert.equal(tree.depth[99_999], 99_999);
	assert.equal(tree.end[0], 100_000);
});

test("changes come first, then the heaviest rows that did not change", () => {
	assert.deepEqual(orderOfChanges(report.list, "total").map((at) => report.list[at].name), [
		"old", "deep", "lost", "work", "main", "parse", "step",
	]);
	assert.equal(changesOf(report.list, "total"), 4);
});

test("figures are written as plumb diff writes them", () => {
	assert.equal(pointsText({ ...figure(0.21, 0.286), half_width: 0.01151 }), "+7.6 ±1.2");
	assert.equal(pointsText({ ...figure(0.001, 0.0009), half_width: 0.0008 }), "−0.01 ±0.08");
	assert.equal(relativeText(figure(0.4, 0.3)), "−25.0 %");
	assert.equal(relativeText(figure(0, 0.3)), "");
	assert.equal(qText(0.00001), "< 0.0001");
	assert.equal(qText(0.25), "0.25");
});

test("what all of it took is told with its interval, by run or unit of work, or not at all", () => {
	const report = reportOf([]);
	const all = { before_ns: 2e9, after_ns: 3e9, relative: 0.5, relative_half_width: 0.0312 };
	assert.equal(tookText(report), "");
	assert.equal(tookText({ ...report, all }), "All threads took 2.0 s → 3.0 s, +50.0 ±3.2 %.");
	const alone = { ...all, relative_half_width: null };
	assert.equal(tookText({ ...report, all: alone }), "All threads took 2.0 s → 3.0 s, +50.0 %.");
	const runs = { ...report.before, runs: 3 };
	assert.equal(tookText({ ...report, all: alone, after: runs }), "All threads took 2.0 s → 3.0 s a run, +50.0 %.");
	const per = { unit: "request", before: 10, after: 20 };
	const none = { ...all, relative: null };
	assert.equal(tookText({ ...report, all: none, per }), "All threads took 2.0 s → 3.0 s per request.");
});
