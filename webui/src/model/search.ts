// SPDX-License-Identifier: Apache-2.0
// Search: each name is looked at once, however many nodes it has. Layer model; pure.
import type { Profile } from "../data/profile";
import { names } from "./names";
import type { Tree } from "./tree";

export interface Matches {
	/** By row of the function table: 1 matches. Null: nothing is searched for. */
	readonly rows: Uint8Array | null;
	/** What is wrong with the regular expression, or null. */
	readonly error: string | null;
}

/** Null: nothing is searched for. Throws what is wrong with a regular expression. */
export function predicate(text: string, regex: boolean): ((name: string) => boolean) | null {
	if (text === "") return null;
	if (!regex) {
		const wanted = text.toLowerCase();
		return (name) => name.toLowerCase().includes(wanted);
	}
	// Without capitals in it the case does not matter.
	const pattern = new RegExp(text, /[A-Z]/.test(text) ? "u" : "iu");
	return (name) => pattern.test(name);
}

/** Functions whose "name file" matches, as `--focus` has it. */
export function matcher(profile: Profile, text: string, regex: boolean): Matches {
	const rows = new Uint8Array(profile.functions.rows);
	const { full, file } = names(profile);
	try {
		const test = predicate(text, regex);
		if (!test) return { rows: null, error: null };
		for (let fn = 0; fn < rows.length; fn++) rows[fn] = test(`${full(fn)} ${file(fn)}`) ? 1 : 0;
	} catch (why) {
		return { rows: null, error: why instanceof Error ? why.message : String(why) };
	}
	return { rows, error: null };
}

/** What matching nodes have together: what lies below a match is in it already. */
export function matchedValue(tree: Tree, rows: Uint8Array): number {
	const { count, fn, end, total } = tree;
	let sum = 0;
	for (let i = 0; i < count; ) {
		if (rows[fn[i]!]) {
			sum += total[i]!;
			i = end[i]!;
		} else i++;
	}
	return sum;
}
