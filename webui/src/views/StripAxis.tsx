// SPDX-License-Identifier: Apache-2.0
/* The marks of time under the sum of all threads. */

import type { JSX } from "preact";
import { instant, ticksOf } from "../canvas/axis";

interface Props {
	/** Where it begins; nothing: at 0. */
	from?: number;
	duration: number;
	width: number;
}

/** CSS pixels between two marks at least. */
const APART = 80;

export function StripAxis({ from = 0, duration, width }: Props): JSX.Element {
	const { step, at } = ticksOf(from, from + duration, Math.max(1, Math.floor(width / APART)));
	const fits = at.filter((tick) => (1 - (tick - from) / duration) * width > APART / 2);
	return (
		<div class="strip-axis" aria-hidden="true">
			{fits.map((tick) => (
				<span key={tick} style={{ left: `${((tick - from) / duration) * 100}%` }}>
					{instant(tick, step)}
				</span>
			))}
		</div>
	);
}
