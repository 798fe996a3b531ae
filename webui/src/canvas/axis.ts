// SPDX-License-Identifier: Apache-2.0
/* Where an axis of time has its marks, and what stands at them. Pure; nanoseconds. */

const SECOND = 1e9;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Steps that are round when time is told in minutes, hours and days. */
const LONG_STEPS = [1, 2, 5, 10, 15, 30].map((n) => n * MINUTE)
	.concat([1, 2, 3, 6, 12].map((n) => n * HOUR));

/** The smallest round step of which not more than so many fit. */
export function stepOf(length: number, most: number): number {
	const least = length / Math.max(1, most);
	if (least > LONG_STEPS[LONG_STEPS.length - 1]) return roundUp(least / DAY) * DAY;
	const long = LONG_STEPS.find((step) => step >= least);
	if (least > 30 * SECOND && long !== undefined) return long;
	if (least > 10 * SECOND) return least > 20 * SECOND ? 30 * SECOND : 20 * SECOND;
	return roundUp(least);
}

/** 1, 2 or 5 times a power of ten. */
function roundUp(value: number): number {
	const power = 10 ** Math.floor(Math.log10(value));
	const digit = value / power;
	return (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10) * power;
}

export function ticksOf(from: number, to: number, most: number): { step: number; at: number[] } {
	const step = stepOf(to - from, most);
	const at: number[] = [];
	for (let n = Math.max(0, Math.ceil(from / step - 1e-9)); n * step <= to * (1 + 1e-12); n++) at.push(n * step);
	return { step, at };
}

function twoDigits(n: number): string {
	return String(n).padStart(2, "0");
}

/** An instant, no more exact than steps are. */
export function instant(ns: number, step: number): string {
	if (step >= MINUTE / 2 || ns >= HOUR) return clock(ns);
	if (step >= SECOND) return `${Math.round(ns / SECOND)} s`;
	const digits = Math.min(9, Math.ceil(-Math.log10(step / SECOND) - 1e-9));
	return `${(ns / SECOND).toFixed(digits)} s`;
}

/** 2:05, 3:12:00, 1d 04:00:00 */
function clock(ns: number): string {
	const seconds = Math.round(ns / SECOND);
	const days = Math.floor(seconds / 86400);
	const hours = Math.floor(seconds / 3600) % 24;
	const tail = `${twoDigits(Math.floor(seconds / 60) % 60)}:${twoDigits(seconds % 60)}`;
	if (days > 0) return `${days}d ${twoDigits(hours)}:${tail}`;
	return hours > 0 ? `${hours}:${tail}` : tail.replace(/^0/, "");
}
