// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeProfile } from "../src/data/decode";
import { Origin, type Profile } from "../src/data/profile";
import { noFilter, placeValues, sieveOf } from "../src/model/filter";
import { names } from "../src/model/names";
import { shapeOf, type ShapeOptions } from "../src/model/shape";
import type { Transform } from "../src/model/transform";
import { type Tree, treeOf } from "../src/model/tree";
import { encodeProfile, type PlainProfile } from "./encode";

const none: ShapeOptions = { by: "function", startup: false, transforms: [], kinds: 0, modules: [], labels: [] };

function profileOf(samples: Record<string, number>, more: Partial<PlainProfile> = {}): Profile {
	const all = Object.entries(samples).map(([stack, n]) => ({ stack, samples: n }));
	return decodeProfile(encodeProfile({ samples: all, ...more }));
}

function treeBy(p: Profile, options: Partial<ShapeOptions> = {}): Tree {
	const places = placeValues(p, sieveOf(p, noFilter), "samples");
	return treeOf(shapeOf(p, { ...none, ...options }), places);
}

/** "main 10 2": depth by dots, total, self. */
function written(p: Profile, tree: Tree): string[] {
	const { full } = names(p);
	return Array.from({ length: tree.count }, (_, i) => {
		const line = tree.line[i] ? `:${String(tree.line[i])}` : "";
		const figures = `${String(tree.total[i])} ${String(tree.self[i])}`;
		return `${".".repeat(tree.depth[i]!)}${full(tree.fn[i]!)}${line} ${figures}`;
	});
}

function fn(p: Profile, name: string): number {
	const at = [...p.functions.name].findIndex((id) => p.strings[id] === name);
	assert.ok(at >= 0, name);
	return at;
}

function module(p: Profile, name: string): number {
	return p.strings.indexOf(name);
}

function after(samples: Record<string, number>, ...make: ((p: Profile) => Transform)[]): string[] {
	const p = profileOf(samples);
	return written(p, treeBy(p, { transforms: make.map((one) => one(p)) }));
}

const simple = { "main;work;parse": 5, "main;work": 2, "main;idle": 1, other: 4, "": 3 };

test("without transforms the tree is that of the profile, by function and by line", () => {
	const p = profileOf({ "main:1;work:5": 4, "main:2;work:5": 3, "main:1;work:6": 2, main: 1 });
	assert.deepEqual(written(p, treeBy(p)), ["main 10 1", ".work 9 9"]);
	assert.deepEqual(written(p, treeBy(p, { by: "line" })), [
		"main:1 7 1", ".work:5 4 4", ".work:6 2 2", "main:2 3 0", ".work:5 3 3",
	]);
	assert.equal(treeBy(profileOf(simple)).whole, 15);
});

test("boxes lie side by side in their callers, what is self on the right", () => {
	const p = profileOf(simple);
	const tree = treeBy(p);
	assert.deepEqual(written(p, tree), ["main 8 0", ".work 7 2", "..parse 5 5", ".idle 1 1", "other 4 4"]);
	assert.deepEqual([...tree.x0], [0, 0, 0, 7, 8]);
	assert.deepEqual([...tree.end], [4, 3, 3, 4, 5]);
});

test("a function in focus is the root, and nothing else counts", () => {
	const focus = (p: Profile): Transform => ({ type: "focus-function", fn: fn(p, "work") });
	assert.deepEqual(after({ ...simple, "other;work;parse": 6 }, focus), ["work 13 2", ".parse 11 11"]);
	const p = profileOf(simple);
	assert.equal(treeBy(p, { transforms: [focus(p)] }).whole, 7);
});

test("a subtree in focus is one way from the root, not all of a function", () => {
	const p = profileOf({ ...simple, "other;work;parse": 6 });
	const tree = treeBy(p);
	const at = written(p, tree).indexOf(".work 7 2");
	const transforms: Transform[] = [{ type: "focus-subtree", base: tree.base[at]! }];
	assert.deepEqual(written(p, treeBy(p, { transforms })), ["work 7 2", ".parse 5 5"]);
});

test("what a hidden function did counts for its caller; at the root it still counts", () => {
	const hide = (name: string) => (p: Profile): Transform => ({ type: "hide-function", fn: fn(p, name) });
	assert.deepEqual(after(simple, hide("work")), ["main 8 2", ".parse 5 5", ".idle 1 1", "other 4 4"]);
	assert.deepEqual(after(simple, hide("main"), hide("other")), ["work 7 2", ".parse 5 5", "idle 1 1"]);
	const p = profileOf(simple);
	assert.equal(treeBy(p, { transforms: [hide("main")(p), hide("other")(p)] }).whole, 15);
});

test("subtrees that meet when a frame between is hidden become one", () => {
	const hide = (p: Profile): Transform => ({ type: "hide-module", module: module(p, "wrap") });
	const samples = { "main;wrap;work;a": 1, "main;work;a": 2, "main;wrap;wrap;work;b": 4 };
	assert.deepEqual(after(samples, hide), ["main 7 0", ".work 7 0", "..b 4 4", "..a 3 3"]);
});

test("dropped samples do not count at all", () => {
	const drop = (p: Profile): Transform => ({ type: "drop-function", fn: fn(p, "parse") });
	assert.deepEqual(after(simple, drop), ["other 4 4", "main 3 0", ".work 2 2", ".idle 1 1"]);
	const p = profileOf(simple);
	assert.equal(treeBy(p, { transforms: [drop(p)] }).whole, 10);
});

test("frames of a module that follow each other collapse into one; what they called stays", () => {
	const functions = ["json_a", "json_b"].map((name) => ({ name, module: "json" }));
	const samples = { "main;json_a;json_b;json_a": 1, "main;json_b;hook": 2, "main;json_a;json_b;hook;json_a": 4 };
	const p = profileOf(samples, { functions });
	const transforms: Transform[] = [{ type: "collapse-module", module: module(p, "json") }];
	assert.deepEqual(written(p, treeBy(p, { transforms })), ["main 7 0", ".json 7 1", "..hook 6 2", "...json 4 4"]);
});

test("a category collapses as a module does", () => {
	const functions = ["lib_a", "lib_b"].map((name) => ({ name, category: 2 }));
	const p = profileOf({ "main;lib_a;lib_b;cb": 1, "main;lib_b": 2 }, { functions });
	const transforms: Transform[] = [{ type: "collapse-category", category: 2 }];
	assert.deepEqual(written(p, treeBy(p, { transforms })), ["main 3 0", ".Library 3 2", "..cb 1 1"]);
});

test("a collapsed subtree has all that was below as its own", () => {
	const collapse = (p: Profile): Transform => ({ type: "collapse-subtree", fn: fn(p, "work") });
	assert.deepEqual(after({ "main;work;a;b": 3, "main;work;a;work": 1, "main;b": 2 }, collapse), [
		"main 6 0", ".work 4 4", ".b 2 2",
	]);
});

test("direct recursion folds into one frame, other recursion stays", () => {
	const samples = { "f;f;f;g": 1, "f;g;f": 2, "f;f": 4 };
	const one = (p: Profile): Transform => ({ type: "fold-direct-recursion", fn: fn(p, "f") });
	assert.deepEqual(after(samples, one), ["f 7 4", ".g 3 1", "..f 2 2"]);
	assert.deepEqual(after(samples, () => ({ type: "fold-direct-recursion", fn: -1 })), ["f 7 4", ".g 3 1", "..f 2 2"]);
});

test("folded recursion hangs what the inner calls did on the outermost one", () => {
	const foldAll = (p: Profile): Transform => ({ type: "fold-recursion", fn: fn(p, "f") });
	assert.deepEqual(after({ "m;f;g;f;h": 1, "m;f;g": 2, "m;f;h": 4, "m;f;g;f": 8 }, foldAll), [
		"m 15 0", ".f 15 8", "..h 5 5", "..g 2 2",
	]);
});

test("frames of other kinds are left out of the stacks, as --kind does", () => {
	const p = profileOf({ "main;c;work": 1, "c;work": 2, c: 4 }, { functions: [{ name: "c", origin: 1 }] });
	const tree = treeBy(p, { kinds: 1 });
	assert.deepEqual(written(p, tree), ["work 2 2", "main 1 0", ".work 1 1"]);
	assert.equal(tree.whole, 7);
});

test("only samples with a frame of the module count, whole stacks of them", () => {
	const p = profileOf(simple);
	const tree = treeBy(p, { modules: [module(p, "parse"), module(p, "other")] });
	assert.deepEqual(written(p, tree), ["main 5 0", ".work 5 0", "..parse 5 5", "other 4 4"]);
	assert.equal(tree.whole, 9);
});

const startupFunctions = [
	{ name: "_run_module_as_main", file: "<frozen runpy>" },
	{ name: "_run_code", file: "<frozen runpy>" },
	{ name: "_find_and_load", file: "<frozen importlib._bootstrap>" },
	{ name: "exec_module", file: "<frozen importlib._bootstrap_external>" },
	{ name: "_bootstrap", qualname: "Thread._bootstrap", file: "/usr/lib/python3.12/threading.py" },
	{ name: "run", qualname: "Thread.run", file: "/usr/lib/python3.12/threading.py" },
];

test("start-up frames are folded, but time that they took themselves stays theirs", () => {
	const samples = {
		"_run_module_as_main;_run_code;main;work": 3,
		"main;_find_and_load;exec_module;imported": 2,
		"main;_find_and_load": 1,
		"_bootstrap;run;job": 4,
		"main;run;job": 5,
	};
	const p = profileOf(samples, { functions: startupFunctions });
	const shape = shapeOf(p, { ...none, startup: true });
	assert.deepEqual(written(p, treeBy(p, { startup: true })), [
		"main 11 0", ".Thread.run 5 0", "..job 5 5", ".work 3 3", ".imported 2 2", "._find_and_load 1 1", "job 4 4",
	]);
	assert.deepEqual(
		shape.folded.map((row) => p.strings[p.functions.name[row]!]).sort(),
		["_bootstrap", "_find_and_load", "_run_code", "_run_module_as_main", "exec_module", "run"],
	);
});

test("what a notebook's kernel has around a cell is folded", () => {
	const functions = [{ name: "run", qualname: "load.<locals>.run", file: "/srv/plumb/_jupyter.py" }];
	const samples = { "kernel;loop;run;cell;work": 3, "kernel;loop;run;cell": 1, "kernel;loop;etc": 2, "cell;loop": 4 };
	const p = profileOf(samples, { functions });
	const tree = treeBy(p, { startup: true });
	assert.deepEqual(written(p, tree), ["cell 8 1", ".loop 4 4", ".work 3 3", "etc 2 2"]);
});

test("what a forked process has from its parent is folded in the child only, and labels stay", () => {
	const file = "/usr/lib/python3.12/multiprocessing/process.py";
	const functions = [
		{ name: "_bootstrap", qualname: "BaseProcess._bootstrap", file },
		{ name: "run", qualname: "BaseProcess.run", file },
		{ name: "[task=a]", origin: Origin.marker },
	];
	const samples = {
		"main;Pool;_bootstrap;run;worker;job": 3,
		"main;Pool;_bootstrap": 1,
		"main;Pool": 1,
		"main;map": 2,
		"[task=a];main;Pool;_bootstrap;run;worker": 4,
	};
	const p = profileOf(samples, { functions });
	assert.deepEqual(written(p, treeBy(p, { startup: true })), [
		"main 4 0", ".Pool 2 1", "..BaseProcess._bootstrap 1 1", ".map 2 2", "[task=a] 4 0", ".worker 4 4",
		"worker 3 0", ".job 3 3",
	]);
});

test("transforms follow each other, and each sees what the one before left", () => {
	const hide = (p: Profile): Transform => ({ type: "hide-function", fn: fn(p, "g") });
	const foldF = (p: Profile): Transform => ({ type: "fold-direct-recursion", fn: fn(p, "f") });
	assert.deepEqual(after({ "f;g;f;h": 1, "f;g": 2 }, hide, foldF), ["f 3 2", ".h 1 1"]);
	assert.deepEqual(after({ "f;g;f;h": 1, "f;g": 2 }, foldF, hide), ["f 3 2", ".f 1 0", "..h 1 1"]);
});

test("each sample is counted once whatever is done, in deep and wide trees", () => {
	const samples: Record<string, number> = {};
	for (let i = 0; i < 200; i++) {
		const name = (d: number) => `f${String((i * 7 + d * d) % 11)}:${String(d % 3)}`;
		const stack = Array.from({ length: 1 + (i % 17) }, (_, d) => name(d));
		samples[stack.join(";")] = i + 1;
	}
	const p = profileOf(samples);
	const all = treeBy(p).whole;
	for (const by of ["function", "line"] as const) {
		for (const type of ["hide-function", "collapse-subtree", "fold-recursion", "fold-direct-recursion"] as const) {
			const transforms: Transform[] = [{ type, fn: 2 }, { type: "collapse-module", module: module(p, "f3") }];
			const tree = treeBy(p, { by, transforms });
			const self = tree.self.reduce((sum, n) => sum + n, 0);
			assert.equal(tree.whole, all);
			assert.ok(self <= all && self > 0);
			for (let i = 0; i < tree.count; i++) assert.ok(tree.parent[i]! < i && tree.end[i]! > i);
		}
	}
});
