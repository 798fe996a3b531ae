// SPDX-License-Identifier: Apache-2.0
/* The order of the table of functions. */

import type { Profile } from "../data/profile";
import { sortRows, type FunctionRows } from "../model/functions";
import type { State } from "../state/state";

/** Rows in order; `found` (by function) leaves some out. */
export function orderedRows(
	profile: Profile,
	rows: FunctionRows,
	sort: State["sort"],
	found: Uint8Array | null,
): Uint32Array {
	const order = sortRows(profile, rows, sort);
	return found === null ? order : order.filter((row) => found[rows.fn[row]]);
}

/** The rows with the most self time. */
export function heaviestRows(rows: FunctionRows, most: number): number[] {
	const compare = (a: number, b: number): number => rows.self[a] - rows.self[b] || rows.total[a] - rows.total[b];
	const best: number[] = [];
	for (let row = 0; row < rows.count; row++) {
		if (rows.self[row] <= 0) continue;
		if (best.length === most && compare(row, best[most - 1]) <= 0) continue;
		best.push(row);
		best.sort((a, b) => compare(b, a) || a - b);
		best.length = Math.min(best.length, most);
	}
	return best;
}
