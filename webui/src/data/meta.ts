// SPDX-License-Identifier: Apache-2.0
// The facts about a recording, checked as far as the page relies on them. Layer data; pure.
import type { Meta, Process, Thread } from "./profile";

const amounts = ["duration_ns", "period_ns", "bin_ns", "bins", "batch_ns", "ticks"];
const objects = ["losses", "overhead", "opcodes"];

type Loose = Record<string, unknown>;

function isObject(v: unknown): v is Loose {
	return typeof v === "object" && v !== null && !Array.isArray(v);
}

function must(holds: boolean, name: string): void {
	if (!holds) throw new Error(`its meta has no good "${name}"`);
}

function isAmount(v: unknown): boolean {
	return typeof v === "number" && v >= 0 && Number.isFinite(v);
}

function checkThreads(meta: Loose): void {
	const { processes, threads } = meta;
	must(Array.isArray(processes) && processes.every((p: Process) => isObject(p) && isAmount(p.pid)), "processes");
	const known = (processes as unknown[]).length;
	const good = (t: Thread) => isObject(t) && isAmount(t.process) && (t.process < known || known === 0);
	must(Array.isArray(threads) && threads.every(good), "threads");
}

function checkWaits(waits: unknown): void {
	const holds = (v: unknown): boolean => isObject(v) && isAmount(v["task_ns"]);
	const all = (v: unknown, good: (of: unknown) => boolean): boolean => Array.isArray(v) && v.every(good);
	const whole = (root: unknown): boolean => isObject(root) && holds(root) && all(root["places"], holds);

	must(waits === undefined || (isObject(waits) && holds(waits) && all(waits["roots"], whole)), "waits");
}

function checkLocks({ locks, lock_states: states }: Loose): void {
	const isText = (v: unknown): boolean => typeof v === "string";
	const isLock = (v: unknown): boolean => isObject(v) && isAmount(v["pid"]) && isText(v["id"]) && isText(v["type"]);
	const isKnown = (v: unknown): boolean => Number.isInteger(v) && (v as number) >= 0;
	const isState = (v: unknown): boolean => {
		if (!isObject(v) || !isKnown(v["lock"]) || (v["lock"] as number) >= (locks as unknown[]).length) return false;
		const { name, file, line, thread, function: fn } = v;
		if (thread !== undefined && !isText(thread)) return false;
		return name === undefined || (isText(name) && isText(file) && isAmount(line) && (fn === null || isKnown(fn)));
	};

	must(locks === undefined || (Array.isArray(locks) && locks.every(isLock)), "locks");
	const fit = Array.isArray(locks) && Array.isArray(states) && states.every(isState);
	must(states === undefined || fit, "lock_states");
}

function checkTags(tags: unknown): void {
	const isText = (v: unknown): boolean => typeof v === "string";
	const isLabel = (v: unknown): boolean => isObject(v) && isText(v["name"]) && isText(v["value"]);
	const isTag = (v: unknown): boolean =>
		isObject(v) && isAmount(v["function"]) && Array.isArray(v["labels"]) && v["labels"].every(isLabel);

	must(tags === undefined || (Array.isArray(tags) && tags.every(isTag)), "tags");
}

function checkEvents(events: unknown): void {
	const isText = (v: unknown): boolean => typeof v === "string";
	const isLabels = (v: unknown): boolean => v === undefined || (isObject(v) && Object.values(v).every(isText));
	const isEvent = (v: unknown): boolean =>
		isObject(v) && isAmount(v["kind"]) && isAmount(v["at_ns"]) && isText(v["name"]) && isLabels(v["labels"]);

	must(events === undefined || (Array.isArray(events) && events.every(isEvent)), "events");
}

export function decodeMeta(bytes: Uint8Array): Meta {
	const meta: unknown = JSON.parse(new TextDecoder().decode(bytes));
	if (!isObject(meta)) throw new Error("its meta is no object");
	must(meta["schema"] === "plumb.page/1", "schema");
	for (const name of amounts) must(isAmount(meta[name]), name);
	for (const name of objects) must(isObject(meta[name]), name);
	must(Array.isArray(meta["categories"]) && meta["categories"].every(isObject), "categories");
	must(meta["time_scale"] === undefined || isAmount(meta["time_scale"]), "time_scale");
	checkThreads(meta);
	checkWaits(meta["waits"]);
	checkLocks(meta);
	checkTags(meta["tags"]);
	checkEvents(meta["events"]);
	return meta as unknown as Meta;
}
