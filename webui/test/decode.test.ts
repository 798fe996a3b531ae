// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeProfile } from "../src/data/decode";
import { decodeBlocks } from "../src/data/file";
import { bigProfile, random } from "./big";
import { blockText, encodeProfile, meta, process, thread } from "./encode";

const plain = {
	meta: { threads: [thread(), thread({ tid: 11, main: false })], processes: [process()] },
	functions: [{ name: "main", file: "/srv/app/main.py", module: "main", line: 1 }],
	samples: [
		{ stack: "main:3;work:10", samples: 5, timeNs: 0 },
		{ stack: "main:4;work:10", samples: 3, timeNs: 2 ** 21, thread: 1, state: 0 },
		{ stack: "main:4;work:11", samples: 1, timeNs: 2 ** 21 },
		{ stack: "main:3", samples: 2, quality: 3 },
		{ stack: "", samples: 7 },
	],
};

test("a tree comes back with its functions, places and callers", () => {
	const p = decodeProfile(encodeProfile(plain));
	const t = p.tree;
	assert.equal(t.count, 2);
	assert.equal(t.places, 5);
	assert.deepEqual([...t.parent], [-1, 0]);
	assert.deepEqual([...t.end], [2, 2]);
	assert.deepEqual([...t.depth], [0, 1]);
	assert.deepEqual([...t.firstPlace], [0, 2, 5]);
	const lines = Array.from({ length: t.places }, (_, i) => {
		const up = t.caller[i]!;
		return [up < 0 ? 0 : p.locations.line[t.location[up]!], p.locations.line[t.location[i]!]];
	});
	assert.deepEqual(lines, [[0, 3], [0, 4], [3, 10], [4, 10], [4, 11]]);
	assert.equal(p.strings[p.functions.name[t.fn[1]!]!], "work");
});

test("cells come back with node, thread, state, time, samples and weight", () => {
	const p = decodeProfile(encodeProfile(plain));
	const c = p.cells;
	assert.equal(c.count, 5);
	assert.equal(c.place[0], -1);
	assert.equal(c.samples[0], 7);
	assert.equal(c.weight, null);
	const at = c.place.findIndex((l) => p.locations.line[p.tree.location[l]!] === 10 && p.tree.caller[l] === 1);
	assert.deepEqual([c.thread[at], c.state[at], c.bin[at], c.samples[at]], [1, 0, 2, 3]);
	const weighted = decodeProfile(encodeProfile({ samples: [{ stack: "a", samples: 2, weightNs: 5 }] }));
	assert.deepEqual([...weighted.cells.weight!], [5]);
});

test("the strip has runs of each thread, rising, with six columns", () => {
	const p = decodeProfile(encodeProfile(plain));
	assert.deepEqual([...p.strip.start], [0, 2, 3]);
	assert.deepEqual([...p.strip.bin], [0, 2, 2]);
	assert.deepEqual([...p.strip.samples], [14, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0]);
});

test("names that are not ASCII, empty or long come back as they were", () => {
	const names = ["größe", "</script>", "\u2028", "x".repeat(65536), "名前", "a\u0000b"];
	const p = decodeProfile(encodeProfile({ samples: names.map((fn) => ({ stack: [{ fn, line: 1 }] })) }));
	const found = [...p.functions.name.subarray(0, p.functions.count)].map((id) => p.strings[id]);
	assert.deepEqual(found.sort(), [...names].sort());
});

test("columns, opcodes and sources come back", () => {
	const frame = { fn: "f", line: 7, endLine: 9, column: 4, endColumn: 2, opcode: 118 };
	const sources = { "/srv/app/f.py": [{ firstLine: 5, text: "a\n\nb\n" }, { firstLine: 50, text: "c\n" }] };
	const p = decodeProfile(encodeProfile({ samples: [{ stack: [frame] }], sources }));
	const l = p.locations;
	assert.deepEqual([l.line[0], l.endLine[0], l.column[0], l.endColumn[0], l.opcode[0]], [7, 9, 4, 2, 118]);
	const source = p.sources.get(p.strings.indexOf("/srv/app/f.py"));
	assert.deepEqual(source?.ranges, [{ firstLine: 5, lines: ["a", "", "b"] }, { firstLine: 50, lines: ["c"] }]);
});

test("each module and each category has a row behind the functions", () => {
	const f = decodeProfile(encodeProfile(plain)).functions;
	assert.equal(f.count, 2);
	assert.equal(f.rows, 2 + 2 + 8);
});

test("an empty profile is one", () => {
	const p = decodeProfile(encodeProfile({ samples: [] }));
	assert.equal(p.tree.count, 0);
	assert.equal(p.cells.count, 0);
});

test("a chain of 100,000 frames is decoded", () => {
	const deep = bigProfile({ nodes: 100_000, functions: 500, threads: 1, cells: 0, maxDepth: 1e9 });
	assert.equal(decodeProfile(deep).tree.count, 100_000);
});

test("cut anywhere there is an error, but for the end of a section after which all are optional", () => {
	const whole = encodeProfile(plain);
	let decoded = 0;
	for (let length = 0; length < whole.length; length++) {
		try {
			assert.equal(decodeProfile(whole.subarray(0, length)).tree.count, 2);
			decoded++;
		} catch (why) {
			assert.match(String(why), /^(Syntax)?Error: /);
		}
	}
	assert.equal(decoded, 2); // without strip and sources, without sources
});

test("damaged anywhere nothing but an Error is thrown, and what is decoded is consistent", () => {
	const whole = encodeProfile(plain);
	const next = random(7);
	for (let i = 0; i < 20_000; i++) {
		const bytes = whole.slice();
		for (let n = 0; n < 3; n++) bytes[Math.floor(next() * bytes.length)] = Math.floor(next() * 256);
		let p;
		try {
			p = decodeProfile(bytes);
		} catch (why) {
			assert.match(String(why), /^(Syntax)?Error: /);
			continue;
		}
		assert.ok(p.cells.place.every((l) => l < p.tree.places));
		assert.ok(p.tree.caller.every((l, at) => l < at));
		assert.ok(p.tree.location.every((l) => l < p.locations.count));
		assert.ok(p.tree.end.every((end, at) => end > at && end <= p.tree.count));
	}
});

test("sections that are not known are stepped over", () => {
	const unknown = [99, 3, 1, 2, 3];
	const bytes = Uint8Array.from([...unknown, ...encodeProfile(plain)]);
	assert.equal(decodeProfile(bytes).tree.count, 2);
});

test("blocks of a page become a report; without a profile there is an error", async () => {
	const block = { kind: "profile", text: `\n${blockText(encodeProfile(plain))}\n` };
	const diff = { kind: "diff", text: blockText(new TextEncoder().encode('{"schema":"plumb.diff/1","list":[]}')) };
	const one = await decodeBlocks([block]);
	assert.equal(one.profiles.length, 1);
	assert.equal(one.diff, null);
	const two = await decodeBlocks([block, block, diff, { ...diff, kind: "diff-paths" }]);
	assert.deepEqual(two.diff?.functions.list, []);
	await assert.rejects(decodeBlocks([]), /no profile/);
	await assert.rejects(decodeBlocks([{ kind: "profile", text: block.text.slice(0, 100) }]));
});

test("a process that is not there is refused", () => {
	const bad = { samples: [], meta: meta({ threads: [thread({ process: 3 })] }) };
	assert.throws(() => decodeProfile(encodeProfile(bad)), /threads/);
});
