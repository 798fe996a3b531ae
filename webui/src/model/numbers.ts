// SPDX-License-Identifier: Apache-2.0
// Numbers as the text report writes them (src/export/units.c). No locale: the same profile reads the same everywhere.
// Layer model; pure.

const minutesFrom = 119.95e9;
/** A computed 0.3 must not be rounded up to 0.4. */
const rounding = 1e-9;

/** 12,301 */
export function count(n: number): string {
	return Math.round(n)
		.toFixed(0)
		.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** The unit in which a time is told, its length, and the decimals that make two or three significant digits. */
function unitOf(ns: number): { scale: number; decimals: number; name: string } {
	const scale = ns < 999.5 ? 1 : ns < 999.5e3 ? 1e3 : ns < 999.5e6 ? 1e6 : 1e9;
	const decimals = scale === 1e9 || (scale > 1 && ns / scale < 9.95) ? 1 : 0;
	return { scale, decimals, name: scale === 1 ? "ns" : scale === 1e3 ? "us" : scale === 1e6 ? "ms" : "s" };
}

function two(n: number): string {
	return String(n).padStart(2, "0");
}

function minutes(ns: number): string {
	const s = Math.floor(ns / 1e9 + 0.5);
	if (s < 3600) return `${String(Math.floor(s / 60))}m${two(s % 60)}s`;
	return `${String(Math.floor(s / 3600))}h${two(Math.floor((s % 3600) / 60))}m`;
}

/** 12.3 s, 845 ms, 2m05s, 3h12m */
export function time(ns: number): string {
	if (!(ns > 0)) return "0 s";
	if (ns >= minutesFrom) return minutes(ns);
	const { scale, decimals, name } = unitOf(ns);
	return `${(ns / scale).toFixed(decimals)} ${name}`;
}

/** 6.4 s ±0.1, both in the unit of the first. */
export function timePm(ns: number, halfWidth: number): string {
	if (ns >= minutesFrom || halfWidth >= minutesFrom) return `${time(ns)} ±${time(halfWidth)}`;
	const { scale, decimals } = unitOf(ns);
	const tens = decimals ? 10 : 1;
	const error = Math.ceil((halfWidth / scale) * tens - rounding) / tens;
	return `${time(ns)} ±${error.toFixed(decimals)}`;
}

/** 52 %, 3.1 %, 0.05 % */
export function percent(share: number): string {
	const v = share * 100;
	if (v > 0 && v < 0.01) return "<0.01 %";
	return `${v.toFixed(v >= 9.95 || v === 0 ? 0 : v >= 0.095 ? 1 : 2)} %`;
}

/** 52 % ±1.1; the half width is rounded up, so that it is never shown smaller than it is. */
export function sharePm(share: number, halfWidth: number): string {
	const v = share * 100;
	const half = halfWidth * 100;
	const fine = v < 99.95 && (v < 9.95 || half < 0.5);
	const error = half < 9.95 ? (Math.ceil(half * 10 - rounding) / 10).toFixed(1) : Math.ceil(half).toFixed(0);
	return `${v.toFixed(fine ? 1 : 0)} % ±${error}`;
}

/** 1,000/s, 0.5/s */
export function rate(perSecond: number): string {
	if (perSecond >= 10) return `${count(Math.floor(perSecond + 0.5))}/s`;
	return `${String(Number(perSecond.toPrecision(3)))}/s`;
}
