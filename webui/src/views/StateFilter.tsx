// SPDX-License-Identifier: Apache-2.0
/* Samples of which states count, and what becomes of threads that did nothing. */

import type { JSX } from "preact";

import { doings } from "../data/words";
import type { Filter } from "../model/filter";
import type { Page } from "./page";
import { Popover } from "./Popover";

const idleChoices: readonly (readonly [Filter["idle"], string])[] = [
	["hide", "Leave out threads that did nothing all along"],
	["keep", "Count all of their time"],
	["skip", "Count only work: running, ready, or holding the GIL"],
];

function label(set: number): string {
	const chosen = doings.filter(({ bit }) => set & bit);
	if (chosen.length === 0) return "All states";
	return chosen.length === 1 ? chosen[0].text : `${chosen.length} states`;
}

export function StateFilter({ page }: { page: Page }): JSX.Element {
	const { filter } = page.state;
	const set = (change: Partial<Filter>): void => page.change({ filter: { ...filter, ...change } });
	const chosen = filter.states !== 0 || filter.idle !== "hide";
	return (
		<Popover label={label(filter.states)} title="What threads were doing" chosen={chosen}>
			{() => (
				<>
					<fieldset class="picks">
						<legend>Only samples in which the thread</legend>
						<label class="tick">
							<input
								type="checkbox"
								checked={filter.states === 0}
								onChange={() => set({ states: 0 })}
							/>
							<span>All states</span>
						</label>
						{doings.map(({ bit, text }) => (
							<label class="tick" key={bit}>
								<input
									type="checkbox"
									checked={(filter.states & bit) !== 0}
									onChange={() => set({ states: filter.states ^ bit })}
								/>
								<span>{text}</span>
							</label>
						))}
					</fieldset>
					<fieldset class="picks">
						<legend>Time without work</legend>
						{idleChoices.map(([idle, text]) => (
							<label class="tick" key={idle}>
								<input
									type="radio"
									name="idle"
									checked={filter.idle === idle}
									onChange={() => set({ idle })}
								/>
								<span>{text}</span>
							</label>
						))}
					</fieldset>
				</>
			)}
		</Popover>
	);
}
