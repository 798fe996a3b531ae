// SPDX-License-Identifier: Apache-2.0
// Labels: what the program said threads worked for. All labels of a sample are its tag, a row of the function table on
// which its stack stands. Layer model; pure.
import type { Label, Meta } from "../data/profile";

export interface Labelled {
	readonly label: Label;
	/** How many tags have it. */
	readonly tags: number;
}

function keyOf({ name, value }: Label): string {
	return JSON.stringify([name, value]);
}

const known = new WeakMap<Meta, readonly Labelled[]>();

/** All labels there are, in the order in which tags have them; a filter names them by their index. */
export function labelsOf(meta: Meta): readonly Labelled[] {
	const before = known.get(meta);
	if (before) return before;
	const found = new Map<string, { label: Label; tags: number }>();
	for (const { labels } of meta.tags ?? []) {
		for (const label of labels) {
			const same = found.get(keyOf(label)) ?? { label, tags: 0 };
			same.tags++;
			found.set(keyOf(label), same);
		}
	}
	const all = [...found.values()];
	known.set(meta, all);
	return all;
}

/** The rows of tags with these labels, indexes of `labelsOf`: of each name that is asked for, one has to be there. */
export function rowsWith(meta: Meta, asked: readonly number[]): ReadonlySet<number> {
	const wanted = asked.flatMap((index) => labelsOf(meta)[index]?.label ?? []);
	const names = new Set(wanted.map(({ name }) => name));
	const keys = new Set(wanted.map(keyOf));
	const fits = (labels: readonly Label[]) => {
		const there = new Set(labels.filter((label) => keys.has(keyOf(label))).map(({ name }) => name));
		return there.size === names.size;
	};
	return new Set((meta.tags ?? []).filter(({ labels }) => fits(labels)).map((tag) => tag.function));
}

/** As `plumb report --tag` takes it. */
export function labelText({ name, value }: Label): string {
	return `${name}=${value}`;
}
