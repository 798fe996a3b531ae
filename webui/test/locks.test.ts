// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeProfile } from "../src/data/decode";
import type { LockState } from "../src/data/profile";
import { noFilter, type Filter } from "../src/model/filter";
import type { LockPlace } from "../src/model/locks";
import { createDerived } from "../src/state/derived";
import { initialState } from "../src/state/state";
import { encodeProfile, type PlainProfile, thread } from "./encode";

const waits = 0;
const inside = { name: "work", file: "/srv/app/work.py", line: 1, function: null };
const states: readonly LockState[] = [
	{ lock: 0, holder: "held", thread: "main", ...inside },
	{ lock: 0, holder: "held", thread: "other", ...inside },
	{ lock: 0, holder: "held", thread: "main" },
	{ lock: 0, holder: "passed_on" },
	{ lock: 1, holder: "unknown" },
];
const locks = [{ pid: 1, id: "0xa", type: "threading.Lock" }, { pid: 1, id: "0xb", type: "threading.RLock" }];
const threads = [thread(), thread({ tid: 11, name: "one", idle: true }), thread({ tid: 12, name: "two", idle: true })];

const plain: PlainProfile = {
	meta: { threads, locks, lock_states: states },
	samples: [
		{ stack: "main:1;work:2", samples: 50 },
		{ stack: "serve:1;ask:4", state: waits, thread: 1, samples: 6, lock: 0 },
		{ stack: "serve:1;ask:5", state: waits, thread: 1, samples: 2, lock: 2 },
		{ stack: "serve:1;ask:4", state: waits, thread: 2, samples: 3, lock: 1 },
		{ stack: "serve:1;ask:4", state: waits, thread: 2, samples: 1, lock: 3 },
		{ stack: "serve:1;idle:1", state: waits, thread: 2, samples: 9 },
		{ stack: "serve:1;take:7", state: waits, thread: 2, samples: 4, lock: 4 },
		{ stack: "serve:1;take:7", state: waits, thread: 2, samples: 4, lock: -1 },
	],
};

function blame(of: PlainProfile, filter: Partial<Filter> = {}) {
	const shown = createDerived({ profiles: [decodeProfile(encodeProfile(of))], diff: null })({
		...initialState, filter: { ...noFilter, ...filter },
	});
	return shown.lockBlame();
}

const said = ({ name, line, share }: LockPlace) => `${name || "?"}:${line} ${share.samples}`;

test("which locks, where they were waited for and who held them, also while idle threads are hidden", () => {
	const found = blame(plain);
	assert.ok(found);
	assert.deepEqual([found.samples, found.waitedNs, found.more, found.unknown], [20, 20e6, 0, true]);
	const [first, second] = found.rows;
	assert.ok(first && second);
	assert.deepEqual([first, second].map(({ lock, waited }) => [lock.id, waited.share]), [["0xa", 0.6], ["0xb", 0.2]]);
	assert.deepEqual(first.places.map(said), ["ask:4 10", "ask:5 2"]);
	assert.deepEqual(first.holders.map(said), ["work:1 9", "?:0 2"]);
	assert.deepEqual(first.holders.map(({ threads: names }) => names), [["main", "other"], ["main"]]);
	assert.equal(first.holders[0]?.share.share, 9 / 12);
	assert.ok((first.holders[0]?.share.halfWidth ?? 0) > 0);
	assert.deepEqual([first.passedOn.samples, first.unknown.samples], [1, 0]);
	assert.deepEqual([second.passedOn.samples, second.unknown.samples, second.holders.length], [0, 4, 0]);
});

test("filters choose who waited, and what is told of holders is of that time", () => {
	const [row] = blame(plain, { threads: [1] })?.rows ?? [];
	assert.deepEqual(row?.holders.map(said), ["work:1 6", "?:0 2"]);
	assert.deepEqual(row?.holders.map(({ threads: names }) => names), [["main"], ["main"]]);
	assert.equal(blame(plain, { threads: [0] }), null);
	assert.equal(blame(plain, { idle: "skip" }), null);
});

test("more locks than are listed are counted", () => {
	const many = Array.from({ length: 20 }, (_, i) => ({ pid: 1, id: `0x${i}`, type: "threading.Lock" }));
	const samples = many.map((_, i) => ({ stack: `f${i}:1`, state: waits, samples: i + 1, lock: i }));
	const unknown = many.map((_, lock) => ({ lock, holder: "unknown" as const }));
	const found = blame({ meta: { locks: many, lock_states: unknown }, samples });
	assert.deepEqual([found?.rows.length, found?.rows[0]?.lock.id, found?.more], [12, "0x19", 8]);
});

test("what a state of a lock says is read once, however many samples are of it", () => {
	const samples = Array.from({ length: 1000 }, (_, i) => ({ stack: `f${i}:1`, state: waits, samples: 1, lock: 0 }));
	const profile = decodeProfile(encodeProfile({ meta: { threads, locks, lock_states: states }, samples }));
	let reads = 0;
	for (const state of profile.meta.lock_states ?? []) {
		const { name } = state;
		Object.defineProperty(state, "name", { get: () => (reads++, name) });
	}
	const shown = createDerived({ profiles: [profile], diff: null })(initialState);
	assert.deepEqual(shown.lockBlame()?.rows[0]?.holders.map(said), ["work:1 1000"]);
	assert.ok(reads <= 2 * states.length, `${reads} reads`);
});

test("where nobody waited for a lock there is nothing to tell", () => {
	assert.equal(blame({ samples: [{ stack: "main:1" }] }), null);
});

test("a page whose locks do not fit together is not shown", () => {
	const meta = { threads, locks, lock_states: [{ lock: 2, holder: "unknown" as const }] };
	assert.throws(() => decodeProfile(encodeProfile({ meta, samples: [] })), /lock_states/);
});
