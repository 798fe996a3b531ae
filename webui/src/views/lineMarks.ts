// SPDX-License-Identifier: Apache-2.0
/* Where in a file its time went, cut into so many parts that each is seen: the hottest row of each part. */

import type { SourceRow } from "./sourceRows";

export interface LineMark {
	/** Which part of the file, from 0. */
	readonly part: number;
	readonly row: number;
	readonly self: number;
}

/** @param self By sampled line. */
export function lineMarks(rows: readonly SourceRow[], self: ArrayLike<number>, parts: number): LineMark[] {
	const marks: LineMark[] = [];
	rows.forEach(({ sampled }, row) => {
		const took = sampled < 0 ? 0 : self[sampled]!;
		const part = Math.floor((row * parts) / rows.length);
		const last = marks.at(-1);
		if (took <= 0) return;
		if (last?.part !== part) marks.push({ part, row, self: took });
		else if (took > last.self) marks[marks.length - 1] = { part, row, self: took };
	});
	return marks;
}

/** The mark that a hand at this part means; null: none is near. */
export function markNear(marks: readonly LineMark[], part: number, reach: number): LineMark | null {
	const away = (mark: LineMark): number => Math.abs(mark.part - part);
	const near = marks.filter((mark) => away(mark) <= reach);
	return near.reduce<LineMark | null>((best, mark) => (best && away(best) <= away(mark) ? best : mark), null);
}
