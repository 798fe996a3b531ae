// SPDX-License-Identifier: Apache-2.0
/* What a thread does, wherever it is drawn: in the timeline, on the lower edge of boxes, in bars and legends. Each
 * state has one colour, which no kind of code has. They differ in lightness: they are told apart in grey, too. */
import { activities } from "../data/profile";

/** In the order of `stripKinds`. */
const LIGHT = ["#3f53c4", "#ff7161", "#bbc6d4", "#f7ec6a", "#3f3f3f", "#108aa2"] as const;
/* What waits stays in the background. */
const DARK = ["#3f53c4", "#ff7161", "#37414e", "#f7ec6a", "#c4c4c4", "#108aa2"] as const;

/** From the ground up, or from left to right: what ran first, what waited last. */
export const stateOrder = [0, 5, 1, 3, 4, 2] as const;

export const stateLabels: readonly string[] = activities.map(({ text }) => text);

export function fillsOfStates(dark: boolean): readonly string[] {
	return dark ? DARK : LIGHT;
}
