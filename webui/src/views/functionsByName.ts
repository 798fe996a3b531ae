// SPDX-License-Identifier: Apache-2.0
/* Rows of the function table of a profile by what a comparison knows of a function: its name and its file. */

import type { DiffRow, Profile } from "../data/profile";

const tables = new WeakMap<Profile, Map<string, number>>();

function tableOf(profile: Profile): Map<string, number> {
	const { functions, strings } = profile;
	const table = new Map<string, number>();
	/* Backwards, so that of equal ones the most used stays. */
	for (let fn = functions.count - 1; fn >= 0; fn--) {
		table.set(`${strings[functions.qualname[fn]]}\0${strings[functions.file[fn]]}`, fn);
	}
	return table;
}

/** Null if it is not in this profile. */
export function functionOfRow(profile: Profile, row: DiffRow): number | null {
	let table = tables.get(profile);
	if (!table) {
		table = tableOf(profile);
		tables.set(profile, table);
	}
	return table.get(`${row.qualname}\0${row.file}`) ?? null;
}

/** The row of a comparison that is this function of the profile; null if none is. */
export function rowOfFunction({ functions, strings }: Profile, fn: number, list: readonly DiffRow[]): DiffRow | null {
	if (fn >= functions.count) return null;
	const [name, file] = [strings[functions.qualname[fn]], strings[functions.file[fn]]];
	return list.find((row) => row.qualname === name && row.file === file) ?? null;
}
