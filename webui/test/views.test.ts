// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeProfile } from "../src/data/decode";
import { type DiffRow, type Profile, stripKinds } from "../src/data/profile";
import { initialState, type State } from "../src/state/state";
import { createDerived } from "../src/state/derived";
import { Doing, type Filter, noFilter } from "../src/model/filter";
import { inlinedIn, isInlinedAt } from "../src/model/inlined";
import { names } from "../src/model/names";
import { heaviestPath } from "../src/model/tree";
import { actions } from "../src/views/actions";
import { doingWords } from "../src/views/Answer";
import { codeParts, indexOfByte } from "../src/views/codeText";
import { commandOf, quoted } from "../src/views/commandText";
import { heaviestOfBoth } from "../src/views/DetailsOfDiff";
import { editorLink } from "../src/views/editors";
import { evidenceOf } from "../src/views/evidence";
import { hotPath } from "../src/views/hotPath";
import { idiomOf } from "../src/views/idioms";
import { markdownOf, span } from "../src/views/markdownText";
import { stretchOf } from "../src/views/LoopTable";
import { carriedBranches, firstBranches, openRows, withFound, withOpen } from "../src/views/openBranches";
import { nextOf } from "../src/views/searchSteps";
import { lineMarks, markNear } from "../src/views/lineMarks";
import { sourceRows } from "../src/views/sourceRows";
import { inOrder } from "../src/views/StatisticsTables";
import { trustWords } from "../src/views/trust";
import type { Page } from "../src/views/page";
import { encodeProfile, type PlainProfile, thread } from "./encode";

function shownOf(plain: PlainProfile) {
	const profile: Profile = decodeProfile(encodeProfile(plain));
	return createDerived({ profiles: [profile], diff: null })(initialState);
}

test("what threads did in a function is told where it is not to compute, and known", () => {
	const parts = (kind: string) => stripKinds.map((one) => (one === kind ? 2 : 1 / stripKinds.length));
	assert.equal(doingWords(parts("waiting")), ", mostly waiting");
	assert.equal(doingWords(parts("running")), "");
	assert.equal(doingWords(parts("unknown")), "");
});

test("what was compiled into its caller is told, of functions and of their boxes", () => {
	const frame = (fn: string, line: number, inlined = false) => ({ fn, line, inlined });
	const { profile } = shownOf({
		samples: [
			{ stack: [frame("main", 1), frame("hash", 5, true)], samples: 3 },
			{ stack: [frame("main", 2), frame("mix", 7, true)], samples: 2 },
			{ stack: [frame("other", 3), frame("mix", 7)] },
		],
	});
	const tree = createDerived({ profiles: [profile], diff: null })(initialState).tree();
	const said = Array.from(tree.fn, (fn, node) => {
		const name = profile.strings[profile.functions.name[fn]!]!;
		return `${name} ${inlinedIn(profile, fn)} ${String(isInlinedAt(profile, tree, node))}`;
	});
	assert.deepEqual(said.sort(), [
		"hash all true", "main none false", "mix some false", "mix some true", "other none false",
	]);
	assert.equal(decodeProfile(encodeProfile({ samples: [{ stack: "main:1" }] })).locations.inlined, null);
});

test("a column in bytes is found in text of any script", () => {
	assert.equal(indexOfByte("abc", 2), 2);
	assert.equal(indexOfByte("äbc", 2), 1);
	assert.equal(indexOfByte("😀bc", 4), 2);
	assert.equal(indexOfByte("abc", 9), 3);
});

test("an expression is cut out of its line; one that is all of it is not", () => {
	assert.deepEqual(codeParts("\tä = f(x)", 6, 10), { before: "\tä = ", inside: "f(x)", after: "" });
	assert.deepEqual(codeParts("  f(x)", 2, 6), { before: "  f(x)", inside: "", after: "" });
	assert.equal(codeParts("a\u202eb", -1, -1).before, "a\\u202eb");
});

test("rows of a file say where lines are left out, and keep sampled lines without text", () => {
	const source = { changed: false, ranges: [{ firstLine: 3, lines: ["three", "four"] }] };
	const rows = sourceRows(source, [4, 9]);
	assert.deepEqual(
		rows.map(({ line, text, sampled }) => [line, text, sampled]),
		[
			[0, null, -1],
			[3, "three", -1],
			[4, "four", 0],
			[0, null, -1],
			[9, null, 1],
		],
	);
});

test("the map of a file has the hottest line of each part, and a hand near it means that line", () => {
	const rows = Array.from({ length: 1000 }, (_, i) => ({ line: i + 1, text: "", sampled: [3, 5, 700].indexOf(i) }));
	const marks = lineMarks(rows, [1, 4, 2], 100);
	assert.deepEqual(marks, [
		{ part: 0, row: 5, self: 4 },
		{ part: 70, row: 700, self: 2 },
	]);
	assert.equal(markNear(marks, 72, 4)?.row, 700);
	assert.equal(markNear(marks, 40, 4), null);
	const short = Array.from({ length: 10 }, (_, i) => ({ line: i + 1, text: "", sampled: i }));
	const all = lineMarks(short, new Array<number>(10).fill(1), 100);
	assert.deepEqual(
		all.map(({ part }) => part),
		[0, 10, 20, 30, 40, 50, 60, 70, 80, 90],
	);
});

test("the hot path passes over those who only hand on", () => {
	const shown = shownOf({
		samples: [
			{ stack: "main:1;hand:1;on:1;work:1", samples: 60 },
			{ stack: "main:1;hand:1;on:1;work:1;leaf:1", samples: 30 },
			{ stack: "main:1;rest:1", samples: 10 },
		],
	});
	const tree = shown.tree();
	const path = hotPath(tree, heaviestPath(tree, 0.3), shown.profile.functions, 4);
	const { strings, functions } = shown.profile;
	assert.deepEqual(
		path.map((node) => strings[functions.name[tree.fn[node]]]),
		["main", "work", "leaf"],
	);
});

test("a key finds out what can be done with a function without adding up what it took", () => {
	const { profile } = shownOf({ samples: [{ stack: "main:1;work:2;inner:3", samples: 4 }] });
	const [main, work, inner] = ["main", "work", "inner"].map((name) =>
		[...profile.functions.name].findIndex((id) => profile.strings[id] === name),
	) as [number, number, number];
	const shownOfState = createDerived({ profiles: [profile], diff: null });
	const state: State = { ...initialState, transforms: [{ type: "collapse-subtree", fn: work }] };
	const shown = { ...shownOfState(state), functionFigures: () => assert.fail("it adds up figures") };
	const page = { profile, state, shown } as unknown as Page;
	const focus = actions.find(({ key }) => key === "f")!;
	assert.deepEqual([main, work, inner].map((fn) => focus.possible(page, fn)), [true, true, false]);
});

test("open branches: the hot path at first, heaviest first, carried over to a new tree", () => {
	const shown = shownOf({
		samples: [
			{ stack: "a:1;b:1", samples: 5 },
			{ stack: "a:1;c:1", samples: 20 },
			{ stack: "d:1;e:1", samples: 10 },
		],
	});
	const tree = shown.tree();
	const names = (rows: readonly number[]) =>
		rows.map((node) => shown.profile.strings[shown.profile.functions.name[tree.fn[node]]]);
	const first = firstBranches(tree, false);
	assert.deepEqual(names(openRows(first)), ["a", "c", "b", "d"]);
	const more = withOpen(first, [openRows(first)[3]], 1);
	assert.deepEqual(names(openRows(more)), ["a", "c", "b", "d", "e"]);
	const found = shown.profile.functions.name.map((name) => (shown.profile.strings[name] === "e" ? 1 : 0));
	assert.deepEqual(names(openRows(withFound(first, Uint8Array.from(found)))), ["a", "c", "b", "d", "e"]);
	assert.deepEqual(names(openRows(carriedBranches(more, { ...tree }, false))), ["a", "c", "b", "d", "e"]);
});

test("a stack of 10,000 frames opens without recursion", () => {
	const stack = Array.from({ length: 10_000 }, (_, i) => ({ fn: `f${String(i % 100)}`, line: 1 }));
	const tree = shownOf({ samples: [{ stack }] }).tree();
	const all = withOpen(firstBranches(tree, false), Array.from({ length: tree.count }, (_, i) => i), 1);
	assert.equal(openRows(all).length, tree.count);
});

test("what keeps figures from being the whole truth is told; a good profile needs no words", () => {
	assert.deepEqual(trustWords({ quality: "good \u00b7 9,000 samples", warnings: [] }), []);
	assert.deepEqual(trustWords({ quality: null }), []);
	assert.deepEqual(trustWords({ quality: "poor \u00b7 26 % missed", warnings: ["26 % of the time was missed"] }), [
		"Quality: poor \u00b7 26 % missed.",
		"26 % of the time was missed.",
	]);
});

test("what a rule found leads to the samples that it is about, whatever was filtered", () => {
	const { profile } = shownOf({
		functions: [
			{ name: "_find_and_load", file: "<frozen importlib._bootstrap>" },
			{ name: "_run_once", file: "/usr/lib/python3.13/asyncio/base_events.py" },
		],
		samples: [{ stack: "main;_find_and_load" }, { stack: "main;_run_once" }],
	});
	const shown = evidenceOf("gil", profile);
	assert.deepEqual([shown?.filter, shown?.transforms], [{ ...noFilter, states: Doing.wantsGil }, []]);
	assert.deepEqual(evidenceOf("cpu", profile)?.filter, { ...noFilter, states: Doing.cpu });
	for (const rule of ["import", "event-loop"]) {
		const evidence = evidenceOf(rule, profile);
		const fn = rule === "import" ? 0 : 1;
		assert.deepEqual([evidence?.transforms, evidence?.startup], [[{ type: "focus-function", fn }], false]);
	}
	assert.equal(evidenceOf("import", shownOf({ samples: [{ stack: "main" }] }).profile), null);
	assert.equal(evidenceOf("unknown", profile), null);
	assert.equal(evidenceOf("loop-held", profile), null);
	const hold = { function: 1, name: "f", file: "/f.py", line: 3, pid: 10, tid: 11 };
	const longest = [{ ...hold, begin_ns: 2e9, length_ns: 3e8, without_cpu_ns: 0 }];
	const holds = { gap_ns: 1e6, least_ns: 2e7, count: 1, held_ns: 3e8, holders: [], longest };
	const threads = [thread({ pid: 10, tid: 10 }), thread({ pid: 10, tid: 11 })];
	const meta = { ...profile.meta, loop_holds: holds, threads };
	const held = evidenceOf("loop-held", { ...profile, meta });
	assert.deepEqual([held?.view, held?.asked], ["statistics", { table: "loop-holds" }]);
	const locks = { ...profile.meta, locks: [{ pid: 10, id: "0x1", type: "Lock" }] };
	assert.deepEqual(evidenceOf("lock", { ...profile, meta: locks })?.asked, { table: "locks" });
	assert.deepEqual(evidenceOf("lock", profile)?.filter, { ...noFilter, states: Doing.waiting });
	const stretch = stretchOf({ ...profile, meta }, longest[0]!);
	assert.deepEqual([stretch.filter, stretch.selected], [{ ...noFilter, time: [2e9, 2.3e9], threads: [1] }, 1]);
});

test("the filters as a command, in words that a shell leaves alone", () => {
	assert.equal(quoted("a-b/c.py:1"), "a-b/c.py:1");
	assert.equal(quoted("it's $HOME"), `'it'"'"'s $HOME'`);
	assert.equal(quoted("a\\'; b"), `'a'"\\\\"''"'"'; b'`); // within single quotes fish has escapes
	assert.equal(quoted("a\x15rm'\\\n\x1b[201~\u0085"), "$'a\\u0015rm\\u0027\\u005c\\u000a\\u001b[201~\\u0085'");
	const plain: PlainProfile = {
		meta: { recording: "my run.plumb", threads: [thread(), thread({ tid: 11 })], duration_ns: 4e9, bins: 4096 },
		functions: [{ name: "f", module: "json.decoder" }],
		samples: [{ stack: "f", samples: 3 }],
	};
	const profile = decodeProfile(encodeProfile(plain));
	const commandWith = (change: Partial<State>): string => {
		const state = { ...initialState, ...change };
		const shown = createDerived({ profiles: [profile], diff: null })(state);
		return commandOf({ profile, state, shown, names: names(profile) } as unknown as Page);
	};
	assert.equal(commandWith({}), "plumb report 'my run.plumb'");
	const module = profile.functions.module[0]!;
	const filter: Filter = {
		...noFilter,
		threads: [1],
		time: [1e9, 2e9],
		states: Doing.onCpu | Doing.wantsGil,
		kinds: 1 | 2,
		modules: [module],
		idle: "skip",
	};
	assert.equal(
		commandWith({ by: "line", filter }),
		"plumb report 'my run.plumb' --lines --skip-idle --threads 11 --time 0.999292928..2.000683008 " +
			"--state on-cpu,wants-gil --kind python,native --module json.decoder",
	);
});

test("names in Markdown end no span and no cell, and say nothing to a reader of it", () => {
	assert.equal(span("a`b|c\nd\u202e"), "`a'b!c\\nd\\u202e`");
	assert.equal(span("", 3), "`?:3`");
	assert.equal(span("x".repeat(200)), `\`${"x".repeat(80)}…\``);
	const evil = shownOf({ samples: [{ stack: "main:1;```\n<b>|:2" }] });
	const { profile } = evil;
	const node = [...evil.tree().fn.keys()].find((one) => evil.tree().depth[one] === 1)!;
	const state: State = { ...initialState, at: { base: evil.tree().base[node]!, depth: 1 } };
	const page = { report: { diff: null }, profile, state, shown: evil, names: names(profile) } as unknown as Page;
	const lines = markdownOf(page).split("\n");
	assert.deepEqual(lines.filter((line) => line.startsWith("```")), ["```text", "```", "```sh", "```"]);
	assert.equal(lines.filter((line) => line.startsWith("|")).length, 3);
});

test("well-known functions of the standard library and markers are explained, those of the same name are not", () => {
	const library = 3;
	const { profile } = shownOf({
		functions: [
			{ name: "_compile", module: "re", category: library },
			{ name: "wait", qualname: "wait", module: "threading", category: library },
			{ name: "sleep", qualname: "Condition.wait", module: "threading", category: library },
			{ name: "get", qualname: "Queue.get", module: "queue", category: 1 },
			{ name: "findall", module: "re", category: library },
			{ name: "<moving>", origin: 4 },
			{ name: "<GC>", origin: 0 },
		],
		samples: ["_compile", "wait", "sleep", "get", "findall", "<moving>", "<GC>"].map((stack) => ({ stack })),
	});
	const explained = new Set<string>();
	for (let fn = 0; fn < profile.functions.rows; fn++) {
		if (idiomOf(profile, fn) !== null) explained.add(profile.strings[profile.functions.name[fn]!]!);
	}
	assert.deepEqual([...explained].sort(), ["<moving>", "_compile", "sleep", "wait"]);
});

test("a place is opened in an editor by a link that holds nothing but the path", () => {
	assert.equal(editorLink("vscode", "/srv/my app/a.py", 12), "vscode://file/srv/my%20app/a.py:12");
	assert.equal(editorLink("zed", "/a.py", 0), "zed://file/a.py");
	assert.equal(editorLink("pycharm", "/a&line=9#?.py", 3), "pycharm://open?file=/a%26line%3D9%23%3F.py&line=3");
	assert.equal(editorLink("vscode", "<frozen runpy>", 1), null);
	assert.equal(editorLink("vscode", "javascript:alert(1)", 1), null);
	const elsewhere = ["//other/a.py", "/\\other/a.py", "/??/UNC/other/a.py"];
	for (const path of elsewhere) assert.equal(editorLink("vscode", path, 1), null);
	for (const none of ["", "emacs", "constructor"]) assert.equal(editorLink(none, "/a.py", 1), null);
});

test("a table is sorted by a column, down or up, and equal rows stay as they were", () => {
	const rows = [{ id: 0, n: 2 }, { id: 1, n: 5 }, { id: 2, n: 2 }];
	const values = { N: (row: { n: number }) => row.n };
	const ids = (order: { column: string; down: boolean } | null) => inOrder(rows, values, order).map(({ id }) => id);
	assert.deepEqual(ids({ column: "N", down: true }), [1, 0, 2]);
	assert.deepEqual(ids({ column: "N", down: false }), [0, 2, 1]);
	assert.deepEqual(ids(null), [0, 1, 2]);
});

test("the list beside a comparison has what took most self time on either side", () => {
	const row = (name: string, before: number, after: number) => ({ name, self: { before, after } }) as DiffRow;
	const list = [row("small", 0.01, 0.02), row("gone", 0.5, 0), row("grew", 0.1, 0.4)];
	assert.deepEqual(heaviestOfBoth(list).map(({ name }) => name), ["gone", "grew", "small"]);
});

test("the next of what was found comes round again", () => {
	assert.deepEqual([null, 7, 9, 1].map((now) => nextOf([7, 9], now, 1)), [7, 9, 7, 7]);
	assert.deepEqual([null, 7, 9].map((now) => nextOf([7, 9], now, -1)), [9, 9, 7]);
	assert.equal(nextOf([], 3, 1), -1);
});
