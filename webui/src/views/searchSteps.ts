// SPDX-License-Identifier: Apache-2.0
/* Enter in the search: the next of what was found, Shift+Enter the one before. */

import { predicate } from "../model/search";
import type { Page } from "./page";

/** Round and round; -1: nothing was found. */
export function nextOf(found: readonly number[], now: number | null, step: 1 | -1): number {
	const at = now === null ? -1 : found.indexOf(now);
	if (at < 0) return found.at(step > 0 ? 0 : -1) ?? -1;
	return found[(at + step + found.length) % found.length];
}

/** Those with most time first. */
function foundFunctions(page: Page): number[] {
	const { rows: found } = page.shown.search();
	const { fn, total, count } = page.shown.functionRows();
	const rows = Array.from({ length: count }, (_, row) => row).filter((row) => found?.[fn[row]] === 1);
	return rows.sort((a, b) => total[b] - total[a]).map((row) => fn[row]);
}

/** Lines of a file whose text holds what is searched for. */
export function foundLines({ profile, state, shown }: Page, file: number): number[] {
	const test = shown.search().error === null ? predicate(state.search, state.regex) : null;
	if (!test) return [];
	return (profile.sources.get(file)?.ranges ?? []).flatMap(({ firstLine, lines }) =>
		lines.flatMap((text, i) => (test(text) ? [firstLine + i] : [])),
	);
}

export function toNextMatch(page: Page, step: 1 | -1): void {
	const { state } = page;
	const file = state.view === "source" ? page.shown.sourceFile() : null;
	if (file !== null) {
		const line = nextOf(foundLines(page, file), state.line, step);
		if (line >= 0) page.change({ file, line });
		return;
	}
	const fn = nextOf(foundFunctions(page), state.selected, step);
	if (fn >= 0) page.change({ selected: fn, at: null });
}
