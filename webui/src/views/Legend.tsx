// SPDX-License-Identifier: Apache-2.0
/* What the colours of boxes mean: whose code it is. A kind that is clicked becomes one frame where it is called;
 * clicked again, all is back. What threads do has its legend at the timeline, or here where there is none. */

import type { JSX } from "preact";

import { fillOfKind } from "../canvas/colours";
import type { Page } from "./page";
import { StateLegend } from "./StateLegend";
import { toggleOf } from "./toggle";

function used(page: Page): Set<number> {
	const { category, count } = page.profile.functions;
	return new Set(category.subarray(0, count));
}

interface KindProps {
	page: Page;
	name: string;
	fill: string;
	category: number;
}

function Kind({ page, name, fill, category }: KindProps): JSX.Element {
	const { on, turn } = toggleOf(
		page,
		{ type: "collapse-category", category },
		(one) => one.type === "collapse-category" && one.category === category,
	);
	return (
		<button
			type="button"
			class={on ? "chosen" : ""}
			aria-pressed={on}
			title={
				on ? "Show its frames again" : `Show each run of frames of this kind as one: ${name.toLowerCase()}`
			}
			onClick={turn}
		>
			<span class="swatch" style={{ background: fillOfKind(fill, page.dark) }} />
			{name}
		</button>
	);
}

export function Legend({ page }: { page: Page }): JSX.Element {
	const there = used(page);
	return (
		<div class="legend-row">
			<div class="legend" role="group" aria-label="Colours of kinds of code">
				{page.profile.meta.categories.map(({ name, fill }, category) =>
					there.has(category) ? (
						<Kind key={name} page={page} name={name} fill={fill} category={category} />
					) : null,
				)}
			</div>
			{page.profile.meta.untimed ? <StateLegend page={page} /> : null}
		</div>
	);
}
