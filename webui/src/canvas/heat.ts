// SPDX-License-Identifier: Apache-2.0
/* Time from left to right, threads from top to bottom; in each column what the thread did then, as parts of the
 * row's height. */

import { mix, themeOf } from "./colours";

/** In the order of the columns of `stripKinds`. Waiting and garbage collection look as they do in the flame graph. */
const FILLS = ["#009e73", "#d55e00", "#aeb9c9", "#f0e442", "#cc79a7"] as const;
/** From the ground up: what ran below, what waited on top. */
const ORDER = [0, 1, 3, 4, 2] as const;
const LABELS = ["running or ready", "waiting for the GIL", "waiting", "collecting garbage", "unknown"] as const;

export function fillsOfStates(dark: boolean): string[] {
	return FILLS.map((fill) => (dark ? mix(fill, "#000000", 0.2) : fill));
}

export const stateLabels: readonly string[] = LABELS;

export interface HeatRow {
	/** CSS pixels. */
	top: number;
	height: number;
	/** Share of the height for kind k in column c: shares[c * kinds + k]. */
	shares: Float32Array;
}

function drawColumn(
	context: CanvasRenderingContext2D,
	row: HeatRow,
	column: number,
	left: number,
	right: number,
	fills: string[],
	scale: number,
): void {
	const ground = Math.round((row.top + row.height) * scale) - 1;
	const high = Math.round(row.height * scale) - 1;
	let reached = 0;
	for (const kind of ORDER) {
		const share = row.shares[column * ORDER.length + kind];
		if (share <= 0) continue;
		const from = Math.round(reached * high);
		reached = Math.min(1, reached + share);
		/* The least part that is there at all is a pixel high. */
		const to = Math.max(from + 1, Math.round(reached * high));
		context.fillStyle = fills[kind];
		context.fillRect(left, ground - to, right - left, to - from);
	}
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
			drawColumn(context, row, column, left, right, fills, scale);
		}
		context.fillStyle = theme.line;
		context.fillRect(0, Math.round((row.top + row.height) * scale) - 1, width, 1);
	}
}
