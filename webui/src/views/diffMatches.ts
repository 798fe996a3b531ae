// SPDX-License-Identifier: Apache-2.0
/* The search in a comparison: each row is asked once. */

import type { DiffReport } from "../data/profile";
import type { DiffTree } from "../model/diff";
import { predicate } from "../model/search";

/** How many nodes before each node match, or null if nothing (or nothing sensible) is searched for. */
export function diffMatches(report: DiffReport, tree: DiffTree, search: string, regex: boolean): Uint32Array | null {
	const asked = predicate(search, regex);
	if (!asked) return null;
	const matches = new Uint32Array(tree.count + 1);
	for (let node = 0; node < tree.count; node++) {
		const { name, qualname, file } = report.list[tree.row[node]];
		matches[node + 1] = matches[node] + (asked(`${qualname || name} ${file}`) ? 1 : 0);
	}
	return matches;
}
