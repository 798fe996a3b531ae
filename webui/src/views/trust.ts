// SPDX-License-Identifier: Apache-2.0
/* How far the figures can be trusted, in the words of the text report. */

import type { Meta } from "../data/profile";
import { count, percent } from "../model/numbers";

/** What was left out of the file is no error of chance: it is told where figures are read. */
function prunedWords(pruned: Meta["pruned"] | undefined): string[] {
	if (!pruned) return [];
	const all = percent(pruned.weight ?? pruned.nodes * pruned.share);
	const what = `${count(pruned.nodes)} branches below ${percent(pruned.share)}`;
	return [`${what} are counted at their callers, ${all} of all: a figure may be off by so much`];
}

/** Of the whole recording; nothing if it is good. */
export function trustWords({ quality, warnings, pruned }: Partial<Meta>): string[] {
	const said = !quality || quality.startsWith("good") ? [] : [`quality: ${quality}`];
	const all = [...said, ...(warnings ?? []), ...prunedWords(pruned)];
	return all.map((text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
}
