// SPDX-License-Identifier: Apache-2.0
/* Choosing a range of time: with what the pointer got hold of, or by steps of a key. Pure; nanoseconds. */

export interface Axis {
	/** How long the axis is, and in what units a range can be chosen. */
	duration: number;
	unit: number;
	/** Of the whole axis, in CSS pixels. */
	width: number;
}

export type Span = readonly [from: number, to: number];

export type Hold =
	| { readonly part: "new"; readonly from: number }
	| { readonly part: "from" | "to"; readonly other: number }
	| { readonly part: "all"; readonly at: number; readonly span: Span };

export function timeAt(axis: Axis, x: number): number {
	return Math.min(axis.duration, Math.max(0, (x / Math.max(1, axis.width)) * axis.duration));
}

export function positionOf(axis: Axis, time: number): number {
	return (time / axis.duration) * axis.width;
}

/** Outwards to whole units, one at least. */
export function snapped(axis: Axis, one: number, other: number): Span {
	const from = Math.floor(Math.min(one, other) / axis.unit) * axis.unit;
	const to = Math.ceil(Math.max(one, other) / axis.unit) * axis.unit;
	return [Math.max(0, from), Math.min(Math.max(to, from + axis.unit), axis.duration)];
}

/** What a press at x takes: an end if it is as near as this, the range if it is inside, else it begins a new one. */
export function holdAt(axis: Axis, span: Span | null, x: number, near: number): Hold {
	const at = timeAt(axis, x);
	if (!span) return { part: "new", from: at };
	const toFrom = Math.abs(positionOf(axis, span[0]) - x);
	const toTo = Math.abs(positionOf(axis, span[1]) - x);
	if (Math.min(toFrom, toTo) <= near) {
		return toFrom < toTo ? { part: "from", other: span[1] } : { part: "to", other: span[0] };
	}
	return at > span[0] && at < span[1] ? { part: "all", at, span } : { part: "new", from: at };
}

export function dragged(axis: Axis, hold: Hold, x: number): Span {
	const at = timeAt(axis, x);
	if (hold.part === "new") return snapped(axis, hold.from, at);
	if (hold.part !== "all") return snapped(axis, hold.other, at);
	return moved(axis, hold.span, at - hold.at);
}

/** The whole range, as far as the axis goes. */
export function moved(axis: Axis, span: Span, by: number): Span {
	const length = span[1] - span[0];
	const whole = Math.round(by / axis.unit) * axis.unit;
	const from = Math.min(Math.max(0, span[0] + whole), Math.max(0, axis.duration - length));
	return [from, from + length];
}

/** One end by so much; it does not pass the other. */
export function endMoved(axis: Axis, span: Span, end: "from" | "to", by: number): Span {
	const step = Math.sign(by) * Math.max(axis.unit, Math.round(Math.abs(by) / axis.unit) * axis.unit);
	if (end === "from") {
		return [Math.min(Math.max(0, span[0] + step), span[1] - Math.min(axis.unit, span[1])), span[1]];
	}
	return [span[0], Math.max(Math.min(axis.duration, span[1] + step), span[0] + axis.unit)];
}

/** A range that is all there is is none. */
export function orNone(axis: Axis, span: Span): Span | null {
	return span[0] <= 0 && span[1] >= axis.duration ? null : span;
}
