// SPDX-License-Identifier: Apache-2.0
/* Transforms in words. */

import type { Transform } from "../model/transform";
import type { Page } from "./page";

function module(page: Page, id: number): string {
	return page.profile.strings[id] ?? "";
}

export function wordsOf(page: Page, transform: Transform): [verb: string, name: string] {
	switch (transform.type) {
		case "focus-function":
			return ["Focus", page.names.full(transform.fn)];
		case "focus-subtree":
			return ["Focus on a path to", nameOfPlace(page, transform.base)];
		case "hide-function":
			return ["Hide", page.names.full(transform.fn)];
		case "hide-module":
			return ["Hide module", module(page, transform.module)];
		case "only-category":
			return ["Only", page.profile.meta.categories[transform.category]?.name ?? ""];
		case "drop-function":
			return ["Without", page.names.full(transform.fn)];
		case "collapse-module":
			return ["Collapse module", module(page, transform.module)];
		case "collapse-category":
			return ["Collapse", page.profile.meta.categories[transform.category]?.name ?? ""];
		case "collapse-subtree":
			return ["Collapse what is below", page.names.full(transform.fn)];
		case "fold-direct-recursion":
			return transform.fn < 0
				? ["Fold direct recursion", ""]
				: ["Fold direct recursion of", page.names.full(transform.fn)];
		case "fold-recursion":
			return ["Fold recursion of", page.names.full(transform.fn)];
	}
}

function nameOfPlace(page: Page, base: number): string {
	const { tree } = page.profile;
	const node = tree.node[base];
	return node === undefined ? "" : page.names.full(tree.fn[node]);
}
