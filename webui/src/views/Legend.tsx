// SPDX-License-Identifier: Apache-2.0
/* What the colours mean. A kind of code that is clicked becomes one frame where it is called; of waiting and garbage
 * collection only those samples are left. Clicked again, all is back. */

import type { JSX } from "preact";

import { Doing } from "../model/filter";
import type { Page } from "./page";

/** Names of categories of what a thread does, not of code. */
const doings: Readonly<Record<string, number>> = { Waiting: Doing.waiting, "Garbage collection": Doing.gc };

function used(page: Page): Set<number> {
	const { category, count } = page.profile.functions;
	return new Set(category.subarray(0, count));
}

function Doings({ page, name, fill, bit }: { page: Page; name: string; fill: string; bit: number }): JSX.Element {
	const { filter } = page.state;
	const on = (filter.states & bit) !== 0;
	return (
		<button
			type="button"
			class={on ? "chosen" : ""}
			aria-pressed={on}
			title={on ? "Count all samples again" : `Count only samples of: ${name.toLowerCase()}`}
			onClick={() => page.change({ filter: { ...filter, states: on ? 0 : bit } })}
		>
			<span class="swatch" style={{ background: fill }} />
			{name}
		</button>
	);
}

function Kind({
	page,
	name,
	fill,
	category,
}: {
	page: Page;
	name: string;
	fill: string;
	category: number;
}): JSX.Element {
	const { transforms } = page.state;
	const others = transforms.filter((one) => one.type !== "collapse-category" || one.category !== category);
	const on = others.length < transforms.length;
	return (
		<button
			type="button"
			class={on ? "chosen" : ""}
			aria-pressed={on}
			title={
				on ? "Show its frames again" : `Show each run of frames of this kind as one: ${name.toLowerCase()}`
			}
			onClick={() =>
				page.change({
					transforms: on ? others : [...transforms, { type: "collapse-category", category }],
					zoom: null,
				})
			}
		>
			<span class="swatch" style={{ background: fill }} />
			{name}
		</button>
	);
}

export function Legend({ page }: { page: Page }): JSX.Element {
	const there = used(page);
	return (
		<div class="legend" role="group" aria-label="Colours">
			{page.profile.meta.categories.map(({ name, fill }, category) => {
				const bit = doings[name];
				if (bit !== undefined) return <Doings key={name} page={page} name={name} fill={fill} bit={bit} />;
				if (!there.has(category)) return null;
				return <Kind key={name} page={page} name={name} fill={fill} category={category} />;
			})}
		</div>
	);
}
