// SPDX-License-Identifier: Apache-2.0
/* The names beside the rows of the timeline. The name of a thread, or of a group, is a button: only that, or all
 * again. A group has another one, which opens it. */

import type { JSX } from "preact";
import type { StripRow } from "./stripRows";

interface Props {
	rows: readonly StripRow[];
	chosen: readonly number[] | null;
	onToggle: (threads: readonly number[]) => void;
	onOpen: (key: string) => void;
}

function Opener({ row, onOpen }: { row: StripRow; onOpen: (key: string) => void }): JSX.Element {
	return (
		<button
			type="button"
			class="opener"
			aria-expanded={row.open}
			aria-label={`The threads of ${row.name}`}
			onClick={() => onOpen(row.key)}
		>
			<span class={row.open ? "twisty open" : "twisty"} aria-hidden="true" />
		</button>
	);
}

export function StripNames({ rows, chosen, onToggle, onOpen }: Props): JSX.Element {
	return (
		<div class="strip-names">
			{rows.map((row) => (
				<div key={row.key} class={`strip-name ${row.kind}`} style={{ height: `${row.height}px` }}>
					{row.kind === "group" ? <Opener row={row} onOpen={onOpen} /> : null}
					{row.kind !== "thread" && row.kind !== "group" ? (
						<span title={row.title}>{row.name}</span>
					) : (
						<button
							type="button"
							title={row.title}
							aria-pressed={chosen !== null && row.threads.every((thread) => chosen.includes(thread))}
							onClick={() => onToggle(row.threads)}
						>
							{row.name}
						</button>
					)}
				</div>
			))}
		</div>
	);
}
