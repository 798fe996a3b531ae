// SPDX-License-Identifier: Apache-2.0
/* The colour of a function's kind of code, and what it means. */

import type { JSX } from "preact";

import { fillOfKind } from "../canvas/colours";
import type { Page } from "./page";

export function categoryOf(page: Page, fn: number): string {
	const { functions, meta } = page.profile;
	return meta.categories[functions.category[fn]]?.name ?? "Other";
}

export function Swatch({ page, fn }: { page: Page; fn: number }): JSX.Element {
	const { functions, meta } = page.profile;
	const fill = fillOfKind(meta.categories[functions.category[fn]]?.fill, page.dark);
	return <span class="swatch" title={categoryOf(page, fn)} style={{ background: fill }} />;
}
