// SPDX-License-Identifier: Apache-2.0
/* What the colours of the timeline mean, and what part of it is chosen. */

import type { JSX } from "preact";
import { fillsOfStates, stateLabels } from "../canvas/heat";

interface Props {
	dark: boolean;
	/** What is chosen, in words. */
	said: string;
	/** Null if nothing is chosen. */
	onClear: (() => void) | null;
}

export function StripLegend({ dark, said, onClear }: Props): JSX.Element {
	const fills = fillsOfStates(dark);
	return (
		<div class="strip-legend">
			<ul>
				{stateLabels.map((label, i) => (
					<li key={label}>
						<span class="strip-sample" style={{ background: fills[i] }} />
						{label}
					</li>
				))}
			</ul>
			<output>{said}</output>
			{onClear ? (
				<button type="button" onClick={onClear}>
					Clear
				</button>
			) : null}
		</div>
	);
}
