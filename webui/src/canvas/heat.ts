// SPDX-License-Identifier: Apache-2.0
/* Time from left to right, threads from top to bottom; in each column what the thread did then, as parts of the
 * row's height. */

import { patternOf, themeOf, type Theme } from "./colours";
import { fillsOfStates, stateOrder } from "./states";

export interface HeatRow {
	/** CSS pixels. */
	top: number;
	height: number;
	/** Share of the height for kind k in column c: shares[c * kinds + k]. */
	shares: Float32Array;
	/** By column: 1 where the thread was there and was not sampled; null: not known. */
	gaps: Uint8Array | null;
}

function drawColumn(
	context: CanvasRenderingContext2D,
	row: HeatRow,
	column: number,
	left: number,
	right: number,
	fills: readonly string[],
	scale: number,
): void {
	const ground = Math.round((row.top + row.height) * scale) - 1;
	const high = Math.round(row.height * scale) - 1;
	let reached = 0;
	for (const kind of stateOrder) {
		const share = row.shares[column * stateOrder.length + kind];
		if (share <= 0) continue;
		const from = Math.round(reached * high);
		reached = Math.min(1, reached + share);
		/* The least part that is there at all is a pixel high. */
		const to = Math.max(from + 1, Math.round(reached * high));
		context.fillStyle = fills[kind];
		context.fillRect(left, ground - to, right - left, to - from);
	}
}

/** What is missing is hatched above what there is, so that it does not look like a thread that did nothing. */
function drawGap(
	context: CanvasRenderingContext2D,
	row: HeatRow,
	column: number,
	left: number,
	right: number,
	theme: Theme,
	scale: number,
): void {
	const kinds = stateOrder.length;
	const there = row.shares.subarray(column * kinds, (column + 1) * kinds).reduce((sum, share) => sum + share, 0);
	const top = Math.round(row.top * scale);
	const height = Math.round((1 - Math.min(1, there)) * (row.height * scale - 1));
	context.fillStyle = theme.line;
	context.fillRect(left, top, right - left, height);
	context.fillStyle = patternOf(context, "stripes", scale) ?? theme.line;
	context.fillRect(left, top, right - left, height);
}

/** By row of the timeline and column: how much of the time the selected function was on the stack; null: never. */
export type RanShares = readonly (Float32Array | null)[];

const RAN_HEIGHT = 4;
const LEAST_ALPHA = 0.4;

export function drawRan(
	context: CanvasRenderingContext2D, rows: readonly HeatRow[], ran: RanShares, dark: boolean, scale: number,
): void {
	const { width, height } = context.canvas;
	context.clearRect(0, 0, width, height);
	context.fillStyle = themeOf(dark).hover;
	rows.forEach((row, i) => {
		const shares = ran[i];
		if (!shares) return;
		const top = Math.round((row.top + row.height - 1 - RAN_HEIGHT) * scale);
		for (let column = 0; column < shares.length; column++) {
			if (shares[column] <= 0) continue;
			const left = Math.round((column * width) / shares.length);
			const right = Math.round(((column + 1) * width) / shares.length);
			context.globalAlpha = LEAST_ALPHA + (1 - LEAST_ALPHA) * Math.min(1, shares[column]);
			context.fillRect(left, top, right - left, Math.round(RAN_HEIGHT * scale));
		}
	});
	context.globalAlpha = 1;
}

export function drawHeat(
	context: CanvasRenderingContext2D, rows: readonly HeatRow[], columns: number, dark: boolean, scale: number,
): void {
	const { width, height } = context.canvas;
	const fills = fillsOfStates(dark);
	const theme = themeOf(dark);
	context.fillStyle = theme.background;
	context.fillRect(0, 0, width, height);
	for (const row of rows) {
		for (let column = 0; column < columns && row.shares.length > 0; column++) {
			const left = Math.round((column * width) / columns);
			const right = Math.round(((column + 1) * width) / columns);
			if (row.gaps?.[column]) drawGap(context, row, column, left, right, theme, scale);
			drawColumn(context, row, column, left, right, fills, scale);
		}
		context.fillStyle = theme.line;
		context.fillRect(0, Math.round((row.top + row.height) * scale) - 1, width, 1);
	}
}
