// SPDX-License-Identifier: Apache-2.0
/* What the colours of states mean, wherever they are. One that is clicked leaves only its samples; clicked again, all
 * are back. */

import type { JSX } from "preact";

import { fillsOfStates, stateLabels, stateOrder } from "../canvas/states";
import { stripKinds } from "../data/profile";
import { Reason } from "../data/words";
import { Doing } from "../model/filter";
import { reasonOf } from "../model/reasons";
import type { Page } from "./page";

/** In the order of `stateLabels`; of what is not known there is no filter. */
const bits = [Doing.onCpu, Doing.wantsGil, Doing.waiting, Doing.gc, 0, Doing.cpu] as const;

function State({ page, state }: { page: Page; state: number }): JSX.Element {
	const { filter } = page.state;
	const bit = bits[state];
	const on = bit !== 0 && filter.states === bit;
	return (
		<button
			type="button"
			class={on ? "chosen" : ""}
			aria-pressed={on}
			disabled={bit === 0}
			title={on ? "Count all samples again" : `Count only samples of threads ${stateLabels[state]}`}
			onClick={() => page.change({ filter: { ...filter, states: on ? 0 : bit } })}
		>
			<span class="swatch" style={{ background: fillsOfStates(page.dark)[state] }} />
			{stateLabels[state]}
		</button>
	);
}

const READY = stripKinds.indexOf("ready");

/** It is rare, and not known of old recordings: without any the legend does without. */
function hasReady({ shown }: Page): boolean {
	return shown.statesThere().some((is, what) => is === 1 && reasonOf(what >> 2) === Reason.cpu);
}

export function StateLegend({ page }: { page: Page }): JSX.Element {
	const shown = stateOrder.filter((state) => state !== READY || hasReady(page));
	return (
		<div class="legend" role="group" aria-label="Colours of what threads do">
			{shown.map((state) => (
				<State key={state} page={page} state={state} />
			))}
		</div>
	);
}
