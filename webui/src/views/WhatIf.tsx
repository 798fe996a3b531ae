// SPDX-License-Identifier: Apache-2.0
/* What all would gain if one function were faster, by Amdahl's law. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Figure } from "../model/figures";
import { sharePm } from "../model/numbers";

const FACTORS = [1.25, 1.5, 2, 3, 5, 10, Infinity];
const TWICE = 2;

function factorText(factor: number): string {
	return Number.isFinite(factor) ? `${factor}× as fast` : "gone";
}

/** `total`: of a function and what it calls. */
export function WhatIf({ total }: { total: Figure }): JSX.Element {
	const [chosen, choose] = useState(TWICE);
	const factor = FACTORS[chosen];
	const part = 1 - 1 / factor;
	return (
		<label class="what-if">
			<span>
				If all of it were <b>{factorText(factor)}</b>: −
				<b>{sharePm(total.share * part, total.halfWidth * part)}</b> of what is counted
			</span>
			<input
				type="range"
				min={0}
				max={FACTORS.length - 1}
				step={1}
				value={chosen}
				aria-valuetext={factorText(factor)}
				onInput={(event) => choose(Number(event.currentTarget.value))}
			/>
		</label>
	);
}
