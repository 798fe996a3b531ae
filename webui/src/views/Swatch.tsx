// SPDX-License-Identifier: Apache-2.0
/* The colour of a function's kind of code, and what it means. */

import type { JSX } from "preact";

import type { Page } from "./page";

export function categoryOf(page: Page, fn: number): { name: string; fill: string } {
	const { functions, meta } = page.profile;
	return meta.categories[functions.category[fn]] ?? { name: "Other", fill: "#dddddd" };
}

export function Swatch({ page, fn }: { page: Page; fn: number }): JSX.Element {
	const { name, fill } = categoryOf(page, fn);
	return <span class="swatch" title={name} style={{ background: fill }} />;
}
