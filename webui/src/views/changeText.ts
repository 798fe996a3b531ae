// SPDX-License-Identifier: Apache-2.0
/* A comparison in words and figures, as `plumb diff` writes them. */

import type { DiffFigure, DiffRow, Verdict } from "../data/profile";

const SIGNS: Record<Verdict, string> = { same: "", new: "+ new", gone: "− gone", more: "+ more", less: "− less" };

/** With a sign, so that colour is not the only mark. */
export function verdictText(verdict: Verdict): string {
	return SIGNS[verdict];
}

function signed(value: number, decimals: number): string {
	const text = Math.abs(value).toFixed(decimals);
	return `${value < 0 ? "−" : "+"}${text}`;
}

/** Half of an interval, rounded up, never to look more certain than it is. */
function within(half: number, decimals: number): string {
	const unit = 10 ** decimals;
	return `±${(Math.ceil(half * unit - 1e-9) / unit).toFixed(decimals)}`;
}

/** Percent points with their 95 % interval. */
export function pointsText(figure: DiffFigure): string {
	const half = figure.half_width * 100;
	const decimals = half < 0.095 ? 2 : 1;
	return `${signed(figure.change * 100, decimals)} ${within(half, decimals)}`;
}

/** With the half of its 95 % interval, if that is known. */
export function signedPercent(share: number, half: number | null = null): string {
	const percent = share * 100;
	const decimals = Math.abs(percent) < 99.95 ? 1 : 0;
	return `${signed(percent, decimals)}${half === null ? "" : ` ${within(half * 100, decimals)}`} %`;
}

export function relativeText(figure: DiffFigure): string {
	return figure.relative === null ? "" : signedPercent(figure.relative);
}

/** How likely such a difference is by chance, with all rows taken into account. */
export function qText(q: number): string {
	if (q < 0.0001) return "< 0.0001";
	return q.toFixed(q < 0.01 ? 4 : 2);
}

const ORDER: Record<Verdict, number> = { new: 0, gone: 0, more: 1, less: 1, same: 2 };

/** New and gone ones first, then the largest changes, then the heaviest that did not change. */
export function orderOfChanges(list: readonly DiffRow[], figure: "self" | "total"): number[] {
	const rows = list.map((_, row) => row).filter((row) => list[row][figure].before > 0 || list[row][figure].after > 0);
	return rows.sort((one, other) => {
		const a = list[one][figure];
		const b = list[other][figure];
		const order = ORDER[a.verdict] - ORDER[b.verdict];
		if (order !== 0) return order;
		if (a.verdict !== "same") return Math.abs(b.change) - Math.abs(a.change) || one - other;
		return Math.max(b.before, b.after) - Math.max(a.before, a.after) || one - other;
	});
}

/** How many rows are called a change. */
export function changesOf(list: readonly DiffRow[], figure: "self" | "total"): number {
	return list.reduce((sum, row) => sum + (row[figure].verdict === "same" ? 0 : 1), 0);
}
