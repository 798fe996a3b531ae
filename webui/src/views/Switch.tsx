// SPDX-License-Identifier: Apache-2.0
/* One of a few, side by side. */

import type { JSX } from "preact";

interface Props<T extends string> {
	label: string;
	/** What is chosen, its text, and where that is short what it means. */
	choices: readonly (readonly [T, string, string?])[];
	value: T;
	onChoose: (value: T) => void;
}

export function Switch<T extends string>({ label, choices, value, onChoose }: Props<T>): JSX.Element {
	return (
		<div class="switch" role="group" aria-label={label}>
			{choices.map(([choice, text, hint]) => (
				<button
					key={choice}
					type="button"
					title={hint}
					aria-pressed={choice === value}
					onClick={() => onChoose(choice)}
				>
					{text}
				</button>
			))}
		</div>
	);
}
