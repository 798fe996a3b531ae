// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeProfile } from "../src/data/decode";
import { eventMarks, eventSaid, eventsOf, markSaid } from "../src/model/events";
import { encodeProfile } from "./encode";

const SECOND = 1e9;
const thread = (process: number, tid: number) => ({ process, pid: 10 + process, tid, name: "", main: true });
const events = [
	{ kind: 0, at_ns: SECOND, name: "epoch", pid: 10, thread: 0, labels: { number: "1", loss: "0.5" } },
	{ kind: 1, at_ns: 2 * SECOND, name: "", duration_ns: 3 * SECOND },
	{ kind: 4, at_ns: 9 * SECOND, name: "b.py", pid: 11 },
	{ kind: 77, at_ns: 9 * SECOND + 1, name: "newer", pid: 11, thread: 1 },
];
const meta = {
	events,
	processes: [{ pid: 10 }, { pid: 11 }],
	threads: [thread(0, 1), thread(1, 2)],
} as unknown as Parameters<typeof eventsOf>[0];
const said = (chosen: Parameters<typeof eventsOf>[1]) => eventsOf(meta, chosen).map(({ at_ns }) => at_ns / SECOND);

test("events are chosen by process and thread, and what is of none is of all", () => {
	assert.equal(said({ processes: null, threads: null }).length, 4);
	assert.deepEqual(said({ processes: [0], threads: null }), [1, 2]);
	assert.deepEqual(said({ processes: null, threads: [1] }).map(Math.floor), [2, 9, 9]);
});

test("marks that would lie on each other are one", () => {
	assert.deepEqual(eventMarks(events, 10 * SECOND, 100).map(({ at, events: there }) => [at, there.length]), [
		[0.1, 1], [0.2, 1], [0.9, 2],
	]);
	const many = Array.from({ length: 5000 }, (_, i) => ({ kind: 0, at_ns: i, name: "x" }));
	const marks = eventMarks(many, 5000, 100);
	assert.equal(marks.length, 100);
	assert.equal(marks.reduce((sum, mark) => sum + mark.events.length, 0), 5000);
	assert.match(markSaid(marks[0]!), /^(x\n){8}… 42 more$/);
	assert.deepEqual(eventMarks([{ kind: 0, at_ns: 20, name: "behind the end" }], 10, 5), []);
});

test("an event is told by its name, its values and its length", () => {
	assert.equal(eventSaid(events[0]!), "epoch number=1 loss=0.5");
	assert.match(eventSaid(events[1]!), /^pause for 3\.0+ s$|^pause for 3 s$/);
	assert.equal(eventSaid(events[2]!), "process ended b.py");
	assert.equal(eventSaid(events[3]!), "other newer");
});

test("what is no event is refused", () => {
	const bad = (event: unknown) => () =>
		decodeProfile(encodeProfile({ meta: { events: [event] }, samples: [] } as never));
	assert.throws(bad({ kind: 0, at_ns: 1 }), /events/);
	assert.throws(bad({ kind: 0, at_ns: -1, name: "x" }), /events/);
	assert.throws(bad({ kind: 0, at_ns: 1, name: "x", labels: { a: 1 } }), /events/);
});
