// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeProfile } from "../src/data/decode";
import type { Meta, Process, Profile } from "../src/data/profile";
import { parentsFirst } from "../src/model/processes";
import { stripColumns, type ThreadStrip, tickNs } from "../src/model/strip";
import { kindOfThread, stripRows } from "../src/views/stripRows";
import { encodeProfile } from "./encode";

/* One column for each kind: running, wants the GIL, waiting, collects garbage, unknown. */
function strip(thread: number, running: number, waiting: number): ThreadStrip {
	return { thread, samples: Float64Array.of(running, 0, waiting, 0, 0, 0) };
}

function profileOf(threads: { process: number; name: string; main?: boolean }[]): Profile {
	const meta = {
		processes: [
			{ pid: 10, name: "web", program: "python web.py" },
			{ pid: 11, name: "job", program: "python job.py" },
		],
		mode: "wall",
		threads: threads.map((thread, i) => ({
			main: false, ...thread, pid: 10 + thread.process, tid: 100 + i, samples: 5,
		})),
	};
	return { meta } as unknown as Profile;
}

const profile = profileOf([
	{ process: 0, name: "calm" },
	{ process: 1, name: "busy" },
	{ process: 0, name: "\u202eevil" },
	{ process: 1, name: "" },
]);

test("threads stand by process, the busiest first", () => {
	const threads = [strip(0, 1, 9), strip(1, 8, 2), strip(2, 3, 7), strip(3, 0, 10)];
	const rows = stripRows(profile, { threads, full: 10 }, 1);
	assert.deepEqual(rows.map(({ name }) => name), [
		"all threads", "job 11", "busy", "thread 103", "web 10", "\\u202eevil", "calm",
	]);
	assert.deepEqual(rows.map(({ thread }) => thread), [null, null, 1, 3, null, 2, 0]);
});

test("a process stands behind the one that started it, and one of a single thread is one row", () => {
	const family = profileOf([
		{ process: 1, name: "MainThread", main: true },
		{ process: 0, name: "MainThread", main: true },
		{ process: 0, name: "handler" },
	]);
	const started = [{ ...family.meta.processes[0], parent: 1 }, { ...family.meta.processes[1], parent: 10 }];
	const profile = { meta: { ...family.meta, processes: started } } as unknown as Profile;
	const rows = stripRows(profile, { threads: [strip(0, 9, 1), strip(1, 1, 9), strip(2, 1, 9)], full: 10 }, 1);
	assert.deepEqual(rows.map(({ name }) => name), ["all threads", "web 10", "MainThread", "handler", "job 11"]);
	assert.deepEqual(rows.map(({ thread }) => thread), [null, null, 1, 2, 0]);
});

/* As many arguments as that no call takes, and what is copied for each of them is never done. */
test("a process may have started any number of others", () => {
	const processes = Array.from({ length: 150_000 }, (_, i) => ({ pid: 1 + i, parent: 1 }) as Process);
	const given = processes.map((_, i) => i);
	assert.deepEqual(parentsFirst(processes, given), given);
});

test("parents stand before their children, whatever a file says of who started whom", () => {
	const of = (pid: number, parent: number): Process => ({ pid, parent }) as Process;
	const processes = [of(3, 2), of(2, 1), of(9, 1), of(5, 6), of(6, 5), of(7, 7)];
	assert.deepEqual(parentsFirst(processes, [0, 1, 2]), [1, 0, 2]);
	assert.deepEqual(parentsFirst(processes, [2, 0, 1]), [2, 1, 0]);
	assert.deepEqual(parentsFirst(processes, [3, 4, 5]), [5, 3, 4], "a ring");
});

test("rows lie below each other, and headings only part several processes", () => {
	const rows = stripRows(profile, { threads: [strip(0, 1, 9), strip(2, 3, 7)], full: 10 }, 1).slice(1);
	assert.deepEqual(rows.map(({ kind }) => kind), ["thread", "thread"]);
	assert.equal(rows[1].top, rows[0].top + rows[0].height);
});

test("a thread's row is full where it was sampled all the time; the sum leaves out who waited", () => {
	const rows = stripRows(profile, { threads: [strip(0, 4, 6), strip(1, 6, 4)], full: 10 }, 1);
	const shares = (name: string): number[] =>
		[...(rows.find((row) => row.name === name)?.shares ?? [])].map((share) => Math.round(share * 100) / 100);
	assert.deepEqual(shares("calm"), [0.4, 0, 0.6, 0, 0, 0]);
	assert.deepEqual(shares("all threads"), [1, 0, 0, 0, 0, 0]);
});

test("without a period the busiest column is the measure", () => {
	const rows = stripRows(profile, { threads: [strip(0, 2, 2), strip(2, 1, 0)], full: 0 }, 1);
	assert.deepEqual([...rows[1].shares], [0.5, 0, 0.5, 0, 0, 0]);
});

test("of thousands of threads the last row has the average", () => {
	const many = profileOf(Array.from({ length: 1000 }, (_, i) => ({ process: 0, name: `${i}t` })));
	const threads = Array.from({ length: 1000 }, (_, i) => strip(i, i, 0));
	const rows = stripRows(many, { threads, full: 1000 }, 1);
	const rest = rows[rows.length - 1];
	assert.equal(rest.name, "850 more threads");
	assert.ok(Math.abs(rest.shares[0] - 0.4245) < 1e-6);
	assert.equal(rows.length, 152);
});

test("the main thread is first, whoever is busier", () => {
	const main = profileOf([{ process: 0, name: "a" }, { process: 0, name: "Main", main: true }]);
	const rows = stripRows(main, { threads: [strip(0, 9, 1), strip(1, 1, 9)], full: 10 }, 1);
	assert.deepEqual(rows.map(({ name }) => name), ["all threads", "Main", "a"]);
});

test("threads of a kind share a row that opens", () => {
	const names = ["pool-0_1", "pool-0_2", "pool-0_10", "pool-0_11", "pool-1_1", "Main"];
	const many = profileOf(names.map((name) => ({ process: 0, name })));
	const threads = names.map((_, i) => strip(i, i, 10 - i));
	const rows = stripRows(many, { threads, full: 10 }, 1);
	assert.deepEqual(rows.map(({ name }) => name), ["all threads", "Main", "pool-1_1", "pool-0 ×4"]);
	const [, , , group] = rows;
	assert.deepEqual([group.threads, group.open], [[3, 2, 1, 0], false]);
	assert.ok(Math.abs(group.shares[0] - 0.15) < 1e-6);
	const open = stripRows(many, { threads, full: 10 }, 1, new Set([group.key]));
	assert.deepEqual(
		open.slice(3).map(({ name }) => name),
		["pool-0 ×4", "pool-0_11", "pool-0_10", "pool-0_2", "pool-0_1"],
	);
	assert.deepEqual(
		["Thread-7 (work)", "Thread-12", "asyncio_3", "ThreadPoolExecutor-0_12", "main"].map(kindOfThread),
		["work", "Thread", "asyncio", "ThreadPoolExecutor-0", "main"],
	);
});

test("columns without samples between two with some are gaps, where it is known how many there should be", () => {
	const samples = Float64Array.from([0, 4, 4, 1, 0, 4, 0, 0].flatMap((n) => [n, 0, 0, 0, 0, 0]));
	const gaps = (full: number): number[] | null => {
		const [, row] = stripRows(profile, { threads: [{ thread: 0, samples }], full }, 8);
		return row.gaps && [...row.gaps];
	};
	assert.deepEqual(gaps(4), [0, 0, 0, 1, 1, 0, 0, 0]);
	assert.equal(gaps(0), null);
});

test("where the profiler has lowered the rate, nothing is missed and no column is taller than its time", () => {
	const meta = {
		period_ns: 1e6,
		bin_ns: 1e6,
		bins: 1000,
		duration_ns: 1e9,
		overhead: { lowered_to_hz: 100 } as Meta["overhead"],
	};
	/* 100 ms at 1,000 samples a second, then one each 10 ms. */
	const at = [...Array.from({ length: 100 }, (_, i) => i), ...Array.from({ length: 90 }, (_, i) => 100 + 10 * i)];
	const samples = at.map((ms) => ({ stack: "main", state: 1, timeNs: ms * 1e6 }));
	const profile = decodeProfile(encodeProfile({ meta, samples }));
	assert.equal(tickNs(profile.meta), 1e7);
	const strip = stripColumns(profile, Uint8Array.of(1), 0, 1e9, 20);
	assert.equal(strip.full, 5);
	const row = stripRows(profile, strip, 20).find(({ kind }) => kind === "thread")!;
	assert.deepEqual([...row.gaps!], new Array(20).fill(0));
	for (let column = 0; column < 20; column++) assert.equal(row.shares[column * 6], 1);
});
