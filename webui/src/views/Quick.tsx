// SPDX-License-Identifier: Apache-2.0
/* What is asked for most, by one click: which time counts, and only the program's own code. */

import type { JSX } from "preact";

import { Doing } from "../model/filter";
import type { Page } from "./page";
import { toggleOf } from "./toggle";

interface Mode {
	readonly text: string;
	readonly states: number;
	readonly title: string;
}

const modes: readonly Mode[] = [
	{ text: "Wall", states: 0, title: "Count all of the time, whatever threads did" },
	{ text: "CPU", states: Doing.onCpu, title: "Count only what ran or was ready to run" },
	{ text: "Waiting", states: Doing.waiting, title: "Count only what waited" },
	{ text: "GIL", states: Doing.gil, title: "Count only who held the GIL" },
];

function Modes({ page }: { page: Page }): JSX.Element {
	const { filter } = page.state;
	return (
		<div class="switch" role="group" aria-label="Which time counts">
			{modes.map(({ text, states, title }) => (
				<button
					key={text}
					type="button"
					title={title}
					aria-pressed={filter.states === states}
					onClick={() => page.change({ filter: { ...filter, states } })}
				>
					{text}
				</button>
			))}
		</div>
	);
}

/** The kind of the program's own code, or -1 where no frame is of it. */
function ownCategory({ meta, functions }: Page["profile"]): number {
	const own = meta.categories.findIndex(({ name }) => name === "Application");
	return functions.category.subarray(0, functions.count).includes(own) ? own : -1;
}

function OwnCode({ page }: { page: Page }): JSX.Element | null {
	const category = ownCategory(page.profile);
	if (category < 0) return null;
	const { on, turn } = toggleOf(page, { type: "only-category", category }, ({ type }) => type === "only-category");
	return (
		<button
			type="button"
			class={on ? "choice chosen" : "choice"}
			aria-pressed={on}
			title="Hide the frames of libraries: what they did counts for who called them"
			onClick={turn}
		>
			My code only
		</button>
	);
}

export function Quick({ page }: { page: Page }): JSX.Element {
	return (
		<>
			<Modes page={page} />
			<OwnCode page={page} />
		</>
	);
}
