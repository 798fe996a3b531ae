// SPDX-License-Identifier: Apache-2.0
/* What the colours of the timeline mean, and what part of it is chosen. */

import type { JSX } from "preact";
import type { Meta } from "../data/profile";
import type { Page } from "./page";
import { StateLegend } from "./StateLegend";

interface Props {
	page: Page;
	/** The selected function, whose time is marked; null: none is. */
	ran: string | null;
	/** What is chosen, in words. */
	said: string;
	/** Null if nothing is chosen. */
	onClear: (() => void) | null;
}

/** It is known when a thread should have been sampled. */
function isRegular({ mode, period_ns }: Meta): boolean {
	return mode === "wall" && period_ns > 0;
}

export function StripLegend({ page, ran, said, onClear }: Props): JSX.Element {
	return (
		<div class={onClear ? "strip-legend chosen" : "strip-legend"}>
			<StateLegend page={page} />
			{isRegular(page.profile.meta) ? (
				<span class="strip-missed">
					<span class="swatch hatched" />
					missed
				</span>
			) : null}
			{ran === null ? null : (
				<span class="strip-ran">
					<span class="swatch" />
					<span class="name">{ran} was on the stack</span>
				</span>
			)}
			<output>{said}</output>
			{onClear ? (
				<button type="button" onClick={onClear}>
					Clear
				</button>
			) : null}
		</div>
	);
}
