// SPDX-License-Identifier: Apache-2.0
/* What threads did while the function was innermost. */

import type { JSX } from "preact";

import { fillsOfStates, stateLabels } from "../canvas/states";
import { percent } from "../model/numbers";
import type { Page } from "./page";

export function StateBar({ page, fn }: { page: Page; fn: number }): JSX.Element | null {
	const values = page.shown.functionStates(fn);
	const all = values.reduce((sum, one) => sum + one, 0);
	if (all === 0) return null;
	const fills = fillsOfStates(page.dark);
	const parts = stateLabels
		.map((text, kind) => ({ text, fill: fills[kind], share: values[kind] / all }))
		.filter((part) => part.share > 0);
	return (
		<section>
			<h3>What threads did in it (self)</h3>
			<div class="states" aria-hidden="true">
				{parts.map((part) => (
					<span
						key={part.text}
						style={{ width: `${(part.share * 100).toFixed(2)}%`, background: part.fill }}
					/>
				))}
			</div>
			<dl class="pairs">
				{parts.map((part) => (
					<>
						<dt class="named">
							<span class="swatch" style={{ background: part.fill }} /> {part.text}
						</dt>
						<dd class="number">{percent(part.share)}</dd>
					</>
				))}
			</dl>
		</section>
	);
}
