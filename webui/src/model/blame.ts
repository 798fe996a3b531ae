// SPDX-License-Identifier: Apache-2.0
// Who held the GIL while threads waited for it: of the samples that pass and waited, by the function that held it,
// which may pass or not. Shares are of the time that was waited. Layer model; pure.
import type { Profile } from "../data/profile";
import type { Steps } from "../data/steps";
import { addingBatches, counts, halfWidths, type Selected } from "./batches";
import type { Figure } from "./figures";

export interface Holder {
	/** A row of the function table. */
	readonly fn: number;
	readonly held: Figure;
}

export interface Blame {
	readonly samples: number;
	readonly waitedNs: number;
	/** Who held it, most first. */
	readonly holders: readonly Holder[];
	/** Nobody was seen to hold it. */
	readonly unseen: Figure;
}

/** `heldBy` of the cells. */
const unseenKey = 1;
const firstKey = 2;
/** Rows of one pass over the cells, as bits. */
const rowsAtOnce = 30;
/** More functions than these, the heaviest of all, nobody reads. */
const mostHolders = 300;

export function weightOf({ cells, meta }: Profile, cell: number): number {
	return cells.weight ? cells.weight[cell]! : cells.samples[cell]! * meta.period_ns;
}

/** Those that held it at all, whatever is filtered; most first. */
function holderKeys(profile: Profile, heldBy: Int32Array): number[] {
	const sums = new Float64Array(firstKey + profile.functions.count);
	for (let i = 0; i < heldBy.length; i++) if (heldBy[i]) sums[heldBy[i]!]! += weightOf(profile, i);
	const keys = [...sums.keys()].filter((key) => key >= firstKey && sums[key]! > 0);
	return keys.sort((a, b) => sums[b]! - sums[a]! || a - b).slice(0, mostHolders);
}

export interface Found {
	readonly samples: number;
	readonly waitedNs: number;
	readonly figures: readonly Figure[];
}

function sum(values: Float64Array): number {
	return values.reduce((total, n) => total + n, 0);
}

/** Rows of the cells that count (batches.ts), as shares of them. */
export function* addingShares(selected: Selected, byCell: Int32Array, rows: number): Steps<Found> {
	const { profile } = selected;
	const batches = yield* addingBatches(selected, "time", rows, { byCell });
	const widths = halfWidths(batches);
	const scale = profile.cells.weight ? 1 : profile.meta.period_ns;
	const waitedNs = sum(batches.all) * scale;
	const figures = batches.hits.map((hit, row) => {
		const value = sum(hit) * scale;
		const share = waitedNs > 0 ? value / waitedNs : 0;
		return { value, samples: batches.rowSamples[row]!, share, halfWidth: widths[row]! };
	});
	return { samples: batches.samples, waitedNs, figures };
}

function* find(selected: Selected, heldBy: Int32Array, keys: readonly number[]): Steps<Found> {
	const bits = new Int32Array(firstKey + selected.profile.functions.count).fill(counts);
	bits[0] = 0;
	keys.forEach((key, row) => {
		bits[key]! |= 1 << row;
	});
	return yield* addingShares(selected, heldBy.map((key) => bits[key]!), keys.length);
}

/** Null: nothing that passes waited for it, or it is not known. */
export function* findingBlame(selected: Selected): Steps<Blame | null> {
	const { heldBy } = selected.profile.cells;
	if (!heldBy) return null;
	const { samples, waitedNs, figures: [unseen] } = yield* find(selected, heldBy, [unseenKey]);
	if (samples === 0) return null;
	const keys = holderKeys(selected.profile, heldBy);
	const holders: Holder[] = [];
	for (let i = 0; i < keys.length; i += rowsAtOnce) {
		const some = keys.slice(i, i + rowsAtOnce);
		const { figures } = yield* find(selected, heldBy, some);
		figures.forEach((held, k) => {
			if (held.samples > 0) holders.push({ fn: some[k]! - firstKey, held });
		});
	}
	holders.sort((a, b) => b.held.value - a.held.value || a.fn - b.fn);
	return { samples, waitedNs, holders, unseen: unseen! };
}
