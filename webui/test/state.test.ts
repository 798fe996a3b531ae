// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeProfile } from "../src/data/decode";
import type { Report } from "../src/data/profile";
import { noFilter } from "../src/model/filter";
import type { Transform } from "../src/model/transform";
import { createDerived } from "../src/state/derived";
import { initialState, type State } from "../src/state/state";
import { createStore } from "../src/state/store";
import { fromHash, toHash } from "../src/state/url";
import { random } from "./big";
import { encodeProfile, process, thread } from "./encode";

const profile = decodeProfile(
	encodeProfile({
		meta: {
			threads: [thread(), thread({ tid: 11, process: 1 })],
			processes: [process(), process({ pid: 11 })],
			tags: [{ function: 0, labels: [{ name: "route", value: "/" }] }],
		},
		samples: [{ stack: "main;work;f", samples: 3 }, { stack: "main;f", samples: 2, thread: 1 }],
	}),
);
const report: Report = { profiles: [profile, profile], diff: null };

const transforms: Transform[] = [
	{ type: "focus-function", fn: 1 },
	{ type: "focus-subtree", base: 2 },
	{ type: "hide-function", fn: 0 },
	{ type: "hide-module", module: 2 },
	{ type: "only-category", category: 1 },
	{ type: "drop-function", fn: 2 },
	{ type: "collapse-module", module: 3 },
	{ type: "collapse-category", category: 4 },
	{ type: "collapse-subtree", fn: 1 },
	{ type: "fold-direct-recursion", fn: -1 },
	{ type: "fold-recursion", fn: 1 },
];

const everything: State = {
	view: "source",
	profile: 0,
	filter: {
		processes: [0], threads: [], time: [10, 2e9], states: 5, idle: "skip", kinds: 3, modules: [1, 2], labels: [0],
	},
	startup: false,
	transforms,
	by: "line",
	unit: "samples",
	inverted: true,
	flipped: true,
	zoom: { base: 1, depth: 2 },
	seen: [0.25, 0.5],
	thread: 1,
	selected: 2,
	at: { base: 2, depth: 0 },
	file: 4,
	line: 12,
	asked: { table: "locks" },
	search: "a&b=c#d %\u2028 \u{1f389} größe",
	regex: true,
	sort: { column: "name", descending: false },
	diffFigure: "self",
	diffWidth: "both",
	editor: "zed",
	note: "look here:\n50 % & more",
	theme: "dark",
};

test("without a hash the page begins as it was made", () => {
	assert.equal(toHash(initialState), "v=flame");
	assert.deepEqual(fromHash("v=flame", report), initialState);
	assert.deepEqual(fromHash("", report), initialState);
	const made = { ...profile, meta: { ...profile.meta, idle: "keep" as const, lines: true } };
	const begun = fromHash("#", { profiles: [made], diff: null });
	assert.deepEqual([begun.by, begun.filter.idle], ["line", "keep"]);
	const changed: State = { ...begun, by: "function", filter: { ...begun.filter, idle: "hide" } };
	assert.deepEqual(fromHash(toHash(changed), { profiles: [made], diff: null }), changed);
});

test("all of a state comes back from its hash", () => {
	const hash = toHash(everything);
	assert.match(hash, /^[!-~]+$/);
	assert.deepEqual(fromHash(hash, report), everything);
	assert.deepEqual(fromHash(`#${hash}`, report), everything);
});

test("every member of the state is in the hash", () => {
	for (const name of Object.keys(everything) as (keyof State)[]) {
		const one = { ...initialState, [name]: everything[name] };
		assert.notEqual(toHash(one), "v=flame", name);
		assert.deepEqual(fromHash(toHash(one), report), one, name);
	}
	for (const name of Object.keys(everything.filter)) {
		const filter = { ...noFilter, [name]: everything.filter[name as keyof typeof noFilter] };
		assert.deepEqual(fromHash(toHash({ ...initialState, filter }), report).filter, filter, name);
	}
});

test("numbers out of range and words that are none are left out", () => {
	const bad =
		"v=nowhere&p=7&pr=9&th=x&t=5-2&st=262144&k=64&m=9999&i=maybe&x=f99_z1_q1&z=99.0&f=-1&file=1e9&o=weight&theme=x";
	assert.deepEqual(fromHash(bad, report), { ...initialState, transforms: [{ type: "fold-recursion", fn: 1 }] });
});

test("a lone surrogate in a search does not break the link", () => {
	assert.equal(fromHash(toHash({ ...initialState, search: "a\ud800b" }), report).search, "a\ufffdb");
});

test("no rubbish breaks it, and what it gives can be shown", () => {
	const next = random(3);
	const good = toHash(everything);
	const shown = createDerived(report);
	for (let i = 0; i < 3000; i++) {
		const letters = [...good];
		for (let n = 0; n < 4; n++) {
			letters[Math.floor(next() * letters.length)] = String.fromCharCode(33 + Math.floor(next() * 94));
		}
		const state = fromHash(letters.join(""), report);
		assert.deepEqual(fromHash(toHash(state), report), state);
		shown(state).shownTree();
		shown(state).rows();
	}
});

test("what counts can be undone and redone; where one looks stays", () => {
	const store = createStore(initialState);
	let told = 0;
	const end = store.subscribe(() => told++);
	store.change({ by: "line" });
	store.change((s) => ({ ...s, transforms: [...s.transforms, transforms[0]!] }));
	store.change({ view: "tree" });
	assert.ok(store.canUndo() && !store.canRedo());
	store.undo();
	assert.deepEqual([store.state().by, store.state().transforms, store.state().view], ["line", [], "tree"]);
	store.undo();
	assert.deepEqual([store.state().by, store.canUndo()], ["function", false]);
	store.undo();
	store.redo();
	store.redo();
	store.redo();
	assert.deepEqual([store.state().by, store.state().transforms.length], ["line", 1]);
	store.undo();
	store.change({ startup: false });
	assert.ok(!store.canRedo());
	assert.equal(told, 9);
	end();
	store.replace(initialState);
	assert.deepEqual([store.state(), told], [initialState, 9]);
});

test("coming nearer can be undone, and a part of the width means nothing of another one", () => {
	const store = createStore(initialState);
	store.change({ seen: [0.25, 0.5] });
	store.change({ seen: [0.3, 0.4] });
	store.change({ selected: 1, view: "tree" });
	store.undo();
	assert.deepEqual([store.state().seen, store.state().selected], [[0.25, 0.5], 1]);
	store.change({ filter: { ...noFilter, threads: [1] } });
	assert.equal(store.state().seen, null);
	store.undo();
	assert.deepEqual(store.state().seen, [0.25, 0.5]);
	store.change({ zoom: { base: 0, depth: 0 } });
	assert.equal(store.state().seen, null);
});

test("only what a change touches is made anew", () => {
	const shown = createDerived(report);
	const first = shown(initialState);
	assert.equal(shown(initialState), first);
	const looked = shown({ ...initialState, view: "tree", search: "main", selected: 1 });
	assert.equal(looked.tree(), first.tree());
	assert.equal(looked.rows(), first.rows());
	const filtered = shown({ ...initialState, filter: { ...noFilter, threads: [1] } });
	assert.notEqual(filtered.tree(), first.tree());
	assert.equal(filtered.tree().parent, first.tree().parent);
	assert.deepEqual([first.samples, filtered.samples], [5, 2]);
	const hidden = shown({ ...initialState, transforms: [{ type: "hide-function", fn: 0 }] });
	assert.notEqual(hidden.tree().count, first.tree().count);
});
