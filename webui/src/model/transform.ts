// SPDX-License-Identifier: Apache-2.0
// What can be done to a call tree, as in the Firefox Profiler. Layer model; pure.
import type { Profile } from "../data/profile";
import type { Steps } from "../data/steps";
import { rowOfCategory, rowOfModule } from "../data/tables";
import type { Stacks } from "./stacks";
import { collapse, collapseBelow, drop, dropped, focus, focusPath, foldDirect, foldRecursion, hide } from "./stacks";

/** `fn` is a row of the function table, `module` a string id, `category` an index into meta.categories. */
export type Transform =
	/** Only samples with the function; their stacks begin at it. */
	| { readonly type: "focus-function"; readonly fn: number }
	/** Only samples that pass the node that L node `base` is in; their stacks begin at it. */
	| { readonly type: "focus-subtree"; readonly base: number }
	/** Its frames vanish; what they did counts for their callers. */
	| { readonly type: "hide-function"; readonly fn: number }
	| { readonly type: "hide-module"; readonly module: number }
	/** All frames but those of it vanish. */
	| { readonly type: "only-category"; readonly category: number }
	/** Samples with the function are dropped. */
	| { readonly type: "drop-function"; readonly fn: number }
	/** Frames of it that follow each other become one. */
	| { readonly type: "collapse-module"; readonly module: number }
	| { readonly type: "collapse-category"; readonly category: number }
	/** All that a function calls is counted as its own. */
	| { readonly type: "collapse-subtree"; readonly fn: number }
	/** Frames of the function that follow each other become one; fn -1: of any function. */
	| { readonly type: "fold-direct-recursion"; readonly fn: number }
	/** As that, also with other frames between, which vanish. */
	| { readonly type: "fold-recursion"; readonly fn: number };

function isModule(profile: Profile, module: number): (fn: number) => boolean {
	return (fn) => profile.functions.module[fn] === module;
}

function isCategory(profile: Profile, category: number): (fn: number) => boolean {
	return (fn) => profile.functions.category[fn] === category;
}

function* focusSubtree(s: Stacks, place: number): Steps<void> {
	const node = s.to[s.ofPlace[place] ?? -1] ?? dropped;
	// A node that another transform took away leaves nothing to focus on.
	if (node >= 0) yield* focusPath(s, node);
}

function* collapseRow(s: Stacks, row: number, holds: (fn: number) => boolean): Steps<void> {
	if (row >= 0) yield* collapse(s, row, holds);
}

export function apply(profile: Profile, s: Stacks, t: Transform): Steps<void> {
	const { functions } = profile;
	switch (t.type) {
		case "focus-function":
			return focus(s, (node) => s.fn[node] === t.fn);
		case "focus-subtree":
			return focusSubtree(s, t.base);
		case "hide-function":
			return hide(s, (fn) => fn === t.fn);
		case "hide-module":
			return hide(s, isModule(profile, t.module));
		case "only-category": {
			const holds = isCategory(profile, t.category);
			return hide(s, (fn) => !holds(fn));
		}
		case "drop-function":
			return drop(s, (fn) => fn === t.fn);
		case "collapse-module":
			return collapseRow(s, rowOfModule(functions, t.module), isModule(profile, t.module));
		case "collapse-category":
			return collapseRow(s, rowOfCategory(functions, t.category), isCategory(profile, t.category));
		case "collapse-subtree":
			return collapseBelow(s, t.fn);
		case "fold-direct-recursion":
			return foldDirect(s, t.fn);
		case "fold-recursion":
			return foldRecursion(s, t.fn);
	}
}

/** Whether it leaves out samples for what they show. */
export function leavesOut({ type }: Transform): boolean {
	return type === "focus-function" || type === "focus-subtree" || type === "drop-function";
}
