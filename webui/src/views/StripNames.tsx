// SPDX-License-Identifier: Apache-2.0
/* The names beside the rows of the timeline. A thread's name is a button: only that thread, or all again. */

import type { JSX } from "preact";
import type { StripRow } from "./stripRows";

interface Props {
	rows: readonly StripRow[];
	chosen: readonly number[] | null;
	onToggle: (thread: number) => void;
}

export function StripNames({ rows, chosen, onToggle }: Props): JSX.Element {
	return (
		<div class="strip-names">
			{rows.map((row) => (
				<div key={row.key} class={`strip-name ${row.kind}`} style={{ height: `${row.height}px` }}>
					{row.thread === null ? (
						<span title={row.title}>{row.name}</span>
					) : (
						<button
							type="button"
							title={row.title}
							aria-pressed={chosen?.includes(row.thread) ?? false}
							onClick={() => row.thread !== null && onToggle(row.thread)}
						>
							{row.name}
						</button>
					)}
				</div>
			))}
		</div>
	);
}
