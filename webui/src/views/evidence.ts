// SPDX-License-Identifier: Apache-2.0
/* Where what a rule found can be seen: the samples that it is about. */

import type { Profile } from "../data/profile";
import { Doing, noFilter } from "../model/filter";
import type { State, Table } from "../state/state";

const states: Readonly<Record<string, number>> = {
	gil: Doing.wantsGil,
	gc: Doing.gc,
	lock: Doing.waiting,
	cpu: Doing.cpu,
};

/** A table of the statistics that lists what was found, if it is there. */
const tables: Readonly<Record<string, { table: Table; of: keyof Profile["meta"] }>> = {
	"loop-held": { table: "loop-holds", of: "loop_holds" },
	lock: { table: "locks", of: "locks" },
};

/** The function below which a rule looks: its name, and how its file ends. */
const functions: Readonly<Record<string, readonly [name: string, file: string]>> = {
	import: ["_find_and_load", "<frozen importlib._bootstrap>"],
	"event-loop": ["_run_once", "/asyncio/base_events.py"],
};

/** A row of the function table, or -1. */
function functionOf({ strings, functions: table }: Profile, name: string, file: string): number {
	for (let fn = 0; fn < table.count; fn++) {
		if (strings[table.name[fn]] === name && strings[table.file[fn]].endsWith(file)) return fn;
	}
	return -1;
}

/** Findings are of the whole recording: so is what they lead to. Null: nothing to show. */
export function evidenceOf(rule: string, profile: Profile): Partial<State> | null {
	const all: Partial<State> = { view: "flame", filter: noFilter, transforms: [], inverted: false };
	const whole = { ...all, zoom: null, seen: null };
	const listed = tables[rule];
	if (listed && profile.meta[listed.of]) return { ...whole, view: "statistics", asked: { table: listed.table } };
	const set = states[rule];
	if (set !== undefined) return { ...whole, filter: { ...noFilter, states: set } };
	const wanted = functions[rule];
	const fn = wanted ? functionOf(profile, ...wanted) : -1;
	if (fn < 0) return null;
	return { ...whole, startup: false, transforms: [{ type: "focus-function", fn }], selected: fn, at: null };
}
