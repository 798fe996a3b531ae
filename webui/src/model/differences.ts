// SPDX-License-Identifier: Apache-2.0
// What is different in a part of a recording: shares there against shares in the rest, and which differences are not
// likely to be chance, as for two recordings (docs/internals/statistics.md). Layer model; pure.
import type { DiffFigure, DiffRow, Profile, Verdict } from "../data/profile";
import type { Steps } from "../data/steps";
import { addingBatches, findingBits, maxRows, type Selected, spreads } from "./batches";
import type { Unit } from "./filter";
import { type Spread, tQuantile, tTwoSided } from "./intervals";

/** Of such findings so many may be chance. */
export const falseDiscoveryRate = 0.05;
/** Rows that are judged: those that differ most. */
const mostRows = 150;
/** Of the allowed errors, what is not there at all gets next to nothing. */
const leastWeight = 1e-9;

export interface Side {
	readonly selected: Selected;
	/** Row of the function table -> value; `whole`: what they are shares of. */
	readonly self: Float64Array;
	readonly total: Float64Array;
	readonly whole: number;
}

interface Judged {
	readonly here: Spread;
	readonly rest: Spread;
	readonly hereSamples: number;
	readonly restSamples: number;
}

type What = "self" | "total";

function shareOf(side: Side, what: What, fn: number): number {
	return side.whole > 0 ? side[what][fn]! / side.whole : 0;
}

function mostDifferent(here: Side, rest: Side): number[] {
	const off = (fn: number, what: What) => Math.abs(shareOf(here, what, fn) - shareOf(rest, what, fn));
	const by = Float64Array.from(here.total, (_, fn) => Math.max(off(fn, "self"), off(fn, "total")));
	const there = [...by.keys()].filter((fn) => here.total[fn]! > 0 || rest.total[fn]! > 0);
	return there.sort((a, b) => by[b]! - by[a]! || a - b).slice(0, mostRows);
}

interface Sampled {
	readonly spread: Spread;
	readonly samples: number;
}

/** By function, self and total one after the other. */
function* spreadsOf({ selected }: Side, unit: Unit, fns: readonly number[]): Steps<Sampled[]> {
	const { shape } = selected;
	const nth = new Map(fns.map((fn, i) => [fn, i]));
	const byPlace = yield* findingBits(shape, (node) => nth.get(shape.fn[node]!) ?? -1);
	const batches = yield* addingBatches(selected, unit, 2 * fns.length, { byPlace });
	return spreads(batches).map((spread, i) => ({ spread, samples: batches.rowSamples[i]! }));
}

/** In the order of `fns`. */
function* judge(here: Side, rest: Side, unit: Unit, fns: readonly number[]): Steps<Record<What, Judged>[]> {
	const judged: Record<What, Judged>[] = [];
	for (let i = 0; i < fns.length; i += maxRows) {
		const some = fns.slice(i, i + maxRows);
		const [a, b] = [yield* spreadsOf(here, unit, some), yield* spreadsOf(rest, unit, some)];
		const at = (k: number): Judged => ({
			here: a[k]!.spread,
			rest: b[k]!.spread,
			hereSamples: a[k]!.samples,
			restSamples: b[k]!.samples,
		});
		some.forEach((_, k) => judged.push({ self: at(2 * k), total: at(2 * k + 1) }));
	}
	return judged;
}

/** Welch and Satterthwaite. */
function differenceOf({ here, rest }: Judged): { p: number; halfWidth: number } {
	const [a, b] = [here.error ** 2, rest.error ** 2];
	const freedom = (a + b) ** 2 / (a ** 2 / here.freedom + b ** 2 / rest.freedom);
	const error = Math.sqrt(a + b);
	return {
		p: tTwoSided((here.share - rest.share) / error, freedom),
		halfWidth: Math.min(1, tQuantile(0.975, Math.min(freedom, 1e6)) * error),
	};
}

/** The allowed error is shared out by how much a row can vary, as `plumb diff` does. */
function weightOf(before: number, after: number): number {
	const mean = (before + after) / 2;
	return mean > 0 ? Math.max(mean * (1 - mean), leastWeight) : 0;
}

/** Benjamini and Hochberg with weights: the rate of false discoveries at which each would be believed. `weights`: of
 * all rows, also of those that were not judged. */
function adjusted(p: readonly number[], weight: readonly number[], weights: number, rows: number): number[] {
	const mean = rows > 0 ? weights / rows : 1;
	const weighed = p.map((one, i) => (weight[i]! > 0 ? (one * mean) / weight[i]! : Infinity));
	const order = [...p.keys()].sort((a, b) => weighed[b]! - weighed[a]!);
	const q = p.map(() => 1);
	let least = 1;
	order.forEach((i, k) => {
		least = Math.min(least, (weighed[i]! * rows) / (order.length - k));
		q[i] = least;
	});
	return q;
}

function verdictOf({ here, rest, hereSamples, restSamples }: Judged, q: number): Verdict {
	if (q > falseDiscoveryRate) return "same";
	if (restSamples === 0) return "new";
	if (hereSamples === 0) return "gone";
	return here.share > rest.share ? "more" : "less";
}

function figuresOf(
	here: Side,
	rest: Side,
	what: What,
	fns: readonly number[],
	judged: readonly Judged[],
): DiffFigure[] {
	const weight = Array.from(here.total, (_, fn) => weightOf(shareOf(rest, what, fn), shareOf(here, what, fn)));
	const weights = weight.reduce((sum, one) => sum + one, 0);
	const differences = judged.map(differenceOf);
	const q = adjusted(
		differences.map(({ p }) => p),
		fns.map((fn) => weight[fn]!),
		weights,
		weight.filter((one) => one > 0).length,
	);
	return fns.map((_, i) => {
		const of = judged[i]!;
		const [before, after] = [of.rest.share, of.here.share];
		return {
			verdict: verdictOf(of, q[i]!),
			before,
			after,
			change: after - before,
			half_width: differences[i]!.halfWidth,
			relative: before > 0 ? after / before - 1 : null,
			relative_half_width: null,
			p: differences[i]!.p,
			q: q[i]!,
			detectable: null,
			before_samples: of.restSamples,
			after_samples: of.hereSamples,
		};
	});
}

/** Functions that differ most, before: in the rest, after: here. The names are those of the profile. */
export function* differing(profile: Profile, here: Side, rest: Side, unit: Unit): Steps<DiffRow[]> {
	const { functions, strings } = profile;
	const fns = mostDifferent(here, rest);
	const judged = yield* judge(here, rest, unit, fns);
	const self = figuresOf(here, rest, "self", fns, judged.map((one) => one.self));
	const total = figuresOf(here, rest, "total", fns, judged.map((one) => one.total));
	return fns.map((fn, i) => ({
		name: strings[functions.name[fn]!]!,
		qualname: strings[functions.qualname[fn]!]!,
		file: strings[functions.file[fn]!]!,
		line: functions.line[fn]!,
		kind: "",
		self: self[i]!,
		total: total[i]!,
	}));
}
