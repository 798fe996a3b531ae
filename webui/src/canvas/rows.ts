// SPDX-License-Identifier: Apache-2.0
/* Where rows lie: from the top down (an icicle), or from the bottom up (a flame). CSS pixels. */

export const ROW_HEIGHT = 20;

export interface Rows {
	count: number;
	/** Row 0 is the lowest. */
	flipped: boolean;
	/** Of the window through which they are seen. */
	height: number;
	/** How far it is scrolled down. */
	scroll: number;
}

/** A flame that is lower than its window stands on the ground. */
function contentHeight(rows: Rows): number {
	return rows.flipped ? Math.max(rows.count * ROW_HEIGHT, rows.height) : rows.count * ROW_HEIGHT;
}

export function topOfRow(rows: Rows, row: number): number {
	return (rows.flipped ? contentHeight(rows) - (row + 1) * ROW_HEIGHT : row * ROW_HEIGHT) - rows.scroll;
}

export function rowAt(rows: Rows, y: number): number {
	const down = y + rows.scroll;
	return Math.floor((rows.flipped ? contentHeight(rows) - down : down) / ROW_HEIGHT);
}

export function rowsSeen(rows: Rows): { first: number; last: number } {
	const one = rowAt(rows, 0.5);
	const other = rowAt(rows, rows.height - 0.5);
	return { first: Math.max(0, Math.min(one, other)), last: Math.min(rows.count - 1, Math.max(one, other)) };
}

/** The scroll position that shows a row, as near as possible to where it is now. */
export function scrollTo(rows: Rows, row: number): number {
	const top = topOfRow(rows, row);
	if (top < 0) return rows.scroll + top;
	if (top + ROW_HEIGHT > rows.height) return rows.scroll + top + ROW_HEIGHT - rows.height;
	return rows.scroll;
}
