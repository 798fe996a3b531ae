// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeProfile } from "../src/data/decode";
import { finish, type Steps, workOf } from "../src/data/steps";
import { childOf, family } from "../src/model/family";
import { createDerived } from "../src/state/derived";
import { initialState, type State } from "../src/state/state";
import { bigProfile, million, random } from "./big";

function* counting(log: number[], to: number): Steps<number> {
	for (let i = 1; i <= to; i++) {
		log.push(i);
		yield;
	}
	return to;
}

test("work is done once, by steps or when its result is asked for", () => {
	const log: number[] = [];
	const work = workOf(counting(log, 3));
	assert.equal(work.step(), true);
	assert.deepEqual(log, [1]);
	assert.equal(work.result(), 3);
	assert.equal(work.step(), false);
	assert.equal(work.result(), 3);
	assert.deepEqual(log, [1, 2, 3]);
});

test("nodes are told apart by caller, function and line, however many siblings they have", () => {
	const next = random(7);
	const known = new Map<string, number>();
	const found = family(2000);
	for (let i = 0; i < 2000; i++) {
		const parent = found.count === 0 ? -1 : Math.floor(next() * Math.min(found.count, 40)) - 1;
		const [fn, line] = [Math.floor(next() * 12), Math.floor(next() * 3)];
		const id = childOf(found, parent, fn, line);
		const key = [parent, fn, line].join();
		if (!known.has(key)) {
			assert.equal(id, known.size, "ids are in the order of appearance");
			known.set(key, id);
		}
		assert.equal(id, known.get(key));
		assert.deepEqual([found.parent[id], found.fn[id], found.line[id]], [parent, fn, line]);
	}
	assert.equal(found.count, known.size);
});

test("what is made ahead is what is made when it is asked for", () => {
	const report = { profiles: [decodeProfile(bigProfile({ ...million, nodes: 60_000 }))], diff: null };
	const states: Partial<State>[] = [
		{}, { inverted: true }, { by: "line" }, { view: "source" }, { view: "sandwich", selected: 3 },
	];
	for (const part of states) {
		const state = { ...initialState, ...part };
		const [ahead, later] = [createDerived(report)(state), createDerived(report)(state)];
		let steps = 0;
		for (const work = ahead.ahead(); !work.next().done; ) steps++;
		assert.ok(steps > 3, "it is made in steps");
		finish(ahead.aheadOf(3));
		assert.deepEqual(ahead.shownTree(), later.shownTree());
		assert.deepEqual(ahead.sourceFiles(), later.sourceFiles());
		assert.deepEqual(ahead.callers(3), later.callers(3));
		assert.deepEqual(ahead.lineRows(), later.lineRows());
	}
});

/** What a hand asks for while the page is open, by name: how many steps it takes. Not of the inverted tree and of
 * callers: of many nodes less is grown. */
function stepsOfAll(nodes: number): Map<string, number> {
	const report = { profiles: [decodeProfile(bigProfile({ ...million, nodes }))], diff: null };
	const shownOf = createDerived(report);
	const plain = { ...initialState, startup: true };
	const taken = new Map<string, number>();
	const count = (name: string, work: Steps<unknown>): void => {
		let steps = 1;
		while (!work.next().done) steps++;
		taken.set(name, steps);
	};
	const states: Record<string, Partial<State>> = {
		"flame graph": {},
		"by line": { by: "line" },
		source: { view: "source" },
		statistics: { view: "statistics" },
		hide: { transforms: [{ type: "hide-function", fn: 3 }] },
		focus: { transforms: [{ type: "focus-function", fn: 0 }] },
		"of a module": { filter: { ...plain.filter, modules: [report.profiles[0]!.functions.module[0]!] } },
		"on a CPU": { filter: { ...plain.filter, states: 1 } },
	};
	for (const [name, part] of Object.entries(states)) count(name, shownOf({ ...plain, ...part }).ahead());
	const shown = shownOf(plain);
	finish(shown.ahead());
	count("waits", shown.aheadOfWaits());
	count("lines", shown.aheadOfLines());
	const file = shown.sourceFile()!;
	count("rows", shown.aheadOfRows([0, 1, 2]));
	count("states", shown.aheadOfStates(4));
	count("ran", shown.aheadOfRan(2, { durationNs: 6.4e9, columns: 64, full: 8 }));
	count("a line", shown.sourceLines(file).aheadOf(0));
	const some = { ...plain, filter: { ...plain.filter, threads: [0] } };
	count("differences", shownOf(some).aheadOfDifferences());
	return taken;
}

test("what takes long takes more steps where there is more of it, and no longer ones", () => {
	const [few, many] = [stepsOfAll(100_000), stepsOfAll(400_000)];
	for (const [name, steps] of few) {
		const more = many.get(name)! / steps;
		assert.ok(more > 2, `${name}: ${String(steps)} steps, of four times as much ${String(many.get(name))}`);
	}
});

test("what is shown stays while what another state needs is made", () => {
	const shownOf = createDerived({ profiles: [decodeProfile(bigProfile({ ...million, nodes: 60_000 }))], diff: null });
	const before = shownOf(initialState);
	finish(before.ahead());
	const [tree, rows] = [before.shownTree(), before.rows()];
	finish(shownOf({ ...initialState, transforms: [{ type: "hide-function", fn: 3 }] }).ahead());
	assert.ok(before.shownTree() === tree, "it is not made anew");
	assert.ok(before.rows() === rows);
});
