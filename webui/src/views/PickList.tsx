// SPDX-License-Identifier: Apache-2.0
/* Choose some of many: none chosen means all. Long lists are found in by typing, and never drawn whole. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { brief } from "./text";

const MOST = 100;

export interface Pick {
	readonly id: number;
	readonly text: string;
	readonly detail: string;
}

interface Props {
	title: string;
	all: string;
	picks: readonly Pick[];
	chosen: readonly number[];
	onChoose: (ids: readonly number[]) => void;
}

function toggled(ids: readonly number[], id: number): readonly number[] {
	return ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id].sort((a, b) => a - b);
}

export function PickList({ title, all, picks, chosen, onChoose }: Props): JSX.Element {
	const [text, setText] = useState("");
	const wanted = text.toLowerCase();
	const found = picks.filter((pick) => pick.text.toLowerCase().includes(wanted));
	const first = [
		...found.filter((pick) => chosen.includes(pick.id)),
		...found.filter((pick) => !chosen.includes(pick.id)),
	];
	const more = first.length - MOST;
	return (
		<fieldset class="picks">
			<legend>{title}</legend>
			{picks.length > 10 ? (
				<input
					type="search"
					value={text}
					placeholder="Find"
					aria-label={`Find in: ${title}`}
					onInput={(event) => setText(event.currentTarget.value)}
				/>
			) : null}
			<label class="tick">
				<input type="checkbox" checked={chosen.length === 0} onChange={() => onChoose([])} />
				<span>{all}</span>
			</label>
			{first.slice(0, MOST).map((pick) => (
				<label class="tick" key={pick.id}>
					<input
						type="checkbox"
						checked={chosen.includes(pick.id)}
						onChange={() => onChoose(toggled(chosen, pick.id))}
					/>
					<span class="grow name">{brief(pick.text, 80)}</span>
					<span class="muted number">{pick.detail}</span>
				</label>
			))}
			{more > 0 ? <p class="muted">{more} more: type to find them</p> : null}
		</fieldset>
	);
}
