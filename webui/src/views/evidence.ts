// SPDX-License-Identifier: Apache-2.0
/* Where what a rule found can be seen: the samples that it is about. */

import { Doing, noFilter } from "../model/filter";
import type { State } from "../state/state";

const states: Readonly<Record<string, number>> = { gil: Doing.wantsGil, gc: Doing.gc, lock: Doing.waiting };

/** Findings are of the whole recording: so is what they lead to. Null: nothing to show. */
export function evidenceOf(rule: string): Partial<State> | null {
	const set = states[rule];
	return set === undefined ? null : { view: "flame", filter: { ...noFilter, states: set }, zoom: null };
}
