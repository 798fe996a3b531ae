// SPDX-License-Identifier: Apache-2.0
/* The rows of a source file: the text that the page has, sampled lines that it has no text of, and what is left out. */

import type { Source } from "../data/profile";
import type { Page } from "./page";

export interface SourceRow {
	/** 0: lines are left out here. */
	readonly line: number;
	/** null: not known. */
	readonly text: string | null;
	/** Index into the sampled lines, -1: not sampled. */
	readonly sampled: number;
}

function textOf(source: Source | undefined): Map<number, string> {
	const texts = new Map<number, string>();
	for (const { firstLine, lines } of source?.ranges ?? []) {
		lines.forEach((text, i) => texts.set(firstLine + i, text));
	}
	return texts;
}

export function sourceRows(source: Source | undefined, sampled: ArrayLike<number>): SourceRow[] {
	const texts = textOf(source);
	const indexes = new Map<number, number>();
	for (let i = 0; i < sampled.length; i++) indexes.set(sampled[i], i);
	const lines = [...new Set([...texts.keys(), ...indexes.keys()])].sort((a, b) => a - b);
	const rows: SourceRow[] = [];
	let before = 0;
	for (const line of lines) {
		if (line > before + 1 && line > 0) rows.push({ line: 0, text: null, sampled: -1 });
		rows.push({ line, text: texts.get(line) ?? null, sampled: indexes.get(line) ?? -1 });
		before = line;
	}
	return rows;
}

/** Lines in which the selected function was sampled; null if it is none of this file. */
export function linesOfSelected(page: Page, file: number): Set<number> | null {
	const { functions, locations } = page.profile;
	const fn = page.state.selected;
	if (fn === null || fn >= functions.count || functions.file[fn] !== file) return null;
	return new Set(locations.line.subarray(locations.start[fn], locations.start[fn + 1]));
}
