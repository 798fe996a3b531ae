// SPDX-License-Identifier: Apache-2.0
// Confidence intervals of shares: the formulas of src/base/stats.c, with its results to 1e-9. What they mean:
// docs/internals/statistics.md. Layer model; pure.

const confidence = 0.975; // two-sided 95 %
const minBatches = 5;
/** From here on four terms of the expansion are exact to 1e-9. */
const expansionDf = 200;
const maxIterations = 300;

function polynomial(c: readonly number[], x: number): number {
	let v = 0;
	for (const k of c) v = v * x + k;
	return v;
}

const lanczos = [
	0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
	12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** ln of the gamma function, x > 0. */
function lgamma(x: number): number {
	if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - lgamma(1 - x);
	let sum = lanczos[0]!;
	for (let i = 1; i < lanczos.length; i++) sum += lanczos[i]! / (x - 1 + i);
	const t = x + 6.5;
	return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

/** P. J. Acklam's rational approximation of the normal quantile, relative error below 1.15e-9. */
function normalQuantileApprox(p: number): number {
	const a = [
		-3.969683028665376e1, 2.209460984245205e2, -2.759285104469687e2, 1.38357751867269e2, -3.066479806614716e1,
		2.506628277459239,
	];
	const b = [
		-5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1, 1,
	];
	const c = [
		-7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838, -2.549732539343734, 4.374664141464968,
		2.938163982698783,
	];
	const d = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1];
	if (p < 0.02425) {
		const q = Math.sqrt(-2 * Math.log(p));
		return polynomial(c, q) / polynomial(d, q);
	}
	const q = p - 0.5;
	const r = q * q;
	return (polynomial(a, r) * q) / polynomial(b, r);
}

/** Series around 0 and continued fraction further out, both to double precision, as math.h has it. */
export function erfc(x: number): number {
	if (x < 0) return 2 - erfc(-x);
	return x < 2 ? 1 - erfSeries(x) : erfcFraction(x);
}

function erfSeries(x: number): number {
	let term = x;
	let sum = x;
	for (let n = 1; n < 100 && Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
		term *= (2 * x * x) / (2 * n + 1);
		sum += term;
	}
	return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

function erfcFraction(x: number): number {
	let f = 0;
	for (let k = 60; k >= 1; k--) f = k / 2 / (x + f);
	return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + f);
}

/** 0 < p < 1. */
export function normalQuantile(p: number): number {
	if (p > 0.5) return -normalQuantile(1 - p);
	const x = normalQuantileApprox(p);
	// One step of Halley's method: full precision.
	const u = (0.5 * erfc(-x / Math.SQRT2) - p) * Math.sqrt(2 * Math.PI) * Math.exp((x * x) / 2);
	return x - u / (1 + (x * u) / 2);
}

function away(v: number): number {
	return Math.abs(v) < 1e-300 ? 1e-300 : v;
}

/** Continued fraction of the incomplete beta function (modified Lentz). */
function betaFraction(a: number, b: number, x: number): number {
	let c = 1;
	let d = 1 / away(1 - ((a + b) * x) / (a + 1));
	let f = d;
	for (let m = 1; m <= maxIterations; m++) {
		const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
		const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
		let change = 1;
		for (const k of [even, odd]) {
			d = 1 / away(1 + k * d);
			c = away(1 + k / c);
			change = c * d;
			f *= change;
		}
		if (Math.abs(change - 1) < 1e-15) break;
	}
	return f;
}

function incompleteBeta(a: number, b: number, x: number): number {
	if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
	const front = Math.exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * Math.log(x) + b * Math.log1p(-x));
	if (x < (a + 1) / (a + b + 2)) return (front * betaFraction(a, b, x)) / a;
	return 1 - (front * betaFraction(b, a, 1 - x)) / b;
}

/** P(T > t), t >= 0. */
function tUpperTail(t: number, df: number): number {
	return 0.5 * incompleteBeta(df / 2, 0.5, df / (df + t * t));
}

function tDensity(t: number, df: number): number {
	const front = lgamma((df + 1) / 2) - lgamma(df / 2) - 0.5 * Math.log(df * Math.PI);
	return Math.exp(front - ((df + 1) / 2) * Math.log1p((t * t) / df));
}

/** Abramowitz & Stegun 26.7.5: t as a series in 1/df around the normal quantile z. */
function tExpansion(z: number, df: number): number {
	const z2 = z * z;
	const g1 = (z * (z2 + 1)) / 4;
	const g2 = (z * ((5 * z2 + 16) * z2 + 3)) / 96;
	const g3 = (z * (((3 * z2 + 19) * z2 + 17) * z2 - 15)) / 384;
	const g4 = (z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945)) / 92160;
	return z + (g1 + (g2 + (g3 + g4 / df) / df) / df) / df;
}

/** The t >= 0 with P(T > t) = tail: Newton's method inside a shrinking bracket. */
function tSolve(tail: number, df: number): number {
	let low = 0;
	let high = 1;
	for (let i = 0; i < 1000 && tUpperTail(high, df) > tail; i++) {
		low = high;
		high *= 2;
	}
	let t = tExpansion(normalQuantile(1 - tail), df);
	for (let i = 0; i < maxIterations; i++) {
		if (!(t > low && t < high)) t = low + (high - low) / 2;
		const excess = tUpperTail(t, df) - tail;
		if (excess > 0) low = t;
		else high = t;
		const next = t + excess / tDensity(t, df);
		if (Math.abs(next - t) <= 1e-12 * t) return next;
		t = next;
	}
	return t;
}

/** Quantile of Student's t, 0 < p < 1, df >= 1. */
export function tQuantile(p: number, df: number): number {
	if (p < 0.5) return -tQuantile(1 - p, df);
	if (p === 0.5) return 0;
	return df >= expansionDf ? tExpansion(normalQuantile(p), df) : tSolve(1 - p, df);
}

const z = normalQuantile(confidence);
/** By degrees of freedom: there are few numbers of batches, and many rows. */
const knownT = new Map<number, number>();

function tOf(df: number): number {
	let t = knownT.get(df);
	if (t === undefined) knownT.set(df, (t = tQuantile(confidence, df)));
	return t;
}

/** Half width of the 95 % Wilson interval around `hits` of `n` independent trials. */
export function wilsonHalfWidth(hits: number, n: number): number {
	if (!(n > 0)) return 0.5; // the limit for n -> 0: nothing is known
	const z2 = z * z;
	const share = Math.min(Math.max(hits / n, 0), 1);
	return (z / (1 + z2 / n)) * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n * n));
}

/** P(|T| > |t|), with a number of degrees of freedom that need not be whole. */
export function tTwoSided(t: number, df: number): number {
	return Number.isFinite(df) ? Math.min(1, 2 * tUpperTail(Math.abs(t), df)) : erfc(Math.abs(t) / Math.SQRT2);
}

/** What is known of a share. */
export interface Spread {
	readonly share: number;
	readonly error: number;
	/** Of the error; infinite where trials are taken as independent. */
	readonly freedom: number;
}

/** Of the share sum(hit) / sum(all), from batch means; the error is never less than that of independent trials, of
 * which one more counts as a hit than there were, so that no share is certain. */
export function shareSpread(hit: ArrayLike<number>, all: ArrayLike<number>): Spread {
	const { hits, total, batches } = countsOf(hit, all);
	if (!(total > 0)) return { share: 0, error: 1, freedom: Infinity };
	const near = Math.min(hits + 1, total + 1) / (total + 2);
	const trials = Math.sqrt((near * (1 - near)) / total);
	const sigma = batches < minBatches ? 0 : batchError(hit, all, hits / total, batches) / total;
	return sigma > trials
		? { share: hits / total, error: sigma, freedom: batches - 1 }
		: { share: hits / total, error: trials, freedom: Infinity };
}

function countsOf(hit: ArrayLike<number>, all: ArrayLike<number>): { hits: number; total: number; batches: number } {
	let hits = 0;
	let total = 0;
	let batches = 0;
	for (let i = 0; i < all.length; i++) {
		hits += hit[i]!;
		total += all[i]!;
		if (all[i]! > 0) batches++;
	}
	return { hits, total, batches };
}

/** Of the hits, in trials. */
function batchError(hit: ArrayLike<number>, all: ArrayLike<number>, share: number, batches: number): number {
	let squares = 0;
	for (let i = 0; i < all.length; i++) {
		const residual = all[i]! > 0 ? hit[i]! - share * all[i]! : 0;
		squares += residual * residual;
	}
	return Math.sqrt((squares * batches) / (batches - 1));
}

/** Half width of the share sum(hit) / sum(all), from batch means; never narrower than Wilson's. */
export function shareHalfWidth(hit: ArrayLike<number>, all: ArrayLike<number>): number {
	const { hits, total, batches } = countsOf(hit, all);
	const wilson = wilsonHalfWidth(hits, total);
	if (batches < minBatches) return wilson;
	const sigma = batchError(hit, all, hits / total, batches) / total;
	return Math.min(Math.max(tOf(batches - 1) * sigma, wilson), 1);
}
