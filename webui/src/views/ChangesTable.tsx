// SPDX-License-Identifier: Apache-2.0
/* What a comparison found, function by function. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { DiffRow, Verdict } from "../data/profile";
import { cut, display } from "../model/names";
import { percent } from "../model/numbers";
import { orderOfChanges, pointsText, qText, relativeText } from "./changeText";
import { functionOfRow } from "./functionsByName";
import type { Page } from "./page";
import { stepOfKey } from "./rowKeys";
import { VirtualRows } from "./VirtualRows";

const ROW = 26;
const PAGE = 20;
/** The two sides in a few words each, and what a difference between them is called. */
export interface Words {
	readonly change: string;
	readonly before: string;
	readonly after: string;
	readonly verdict: (verdict: Verdict) => string;
	readonly label: string;
}

interface Column {
	readonly text: string;
	readonly hint: string;
	readonly class: string;
}

function columnsOf({ change, before, after }: Words): readonly Column[] {
	return [
		{ text: change, hint: "What is called a change is not likely to be chance", class: "" },
		{ text: before, hint: `Share ${before.toLowerCase()}`, class: "number" },
		{ text: after, hint: `Share ${after.toLowerCase()}`, class: "number" },
		{
			text: "By",
			hint: `Share ${after.toLowerCase()} less that ${before.toLowerCase()}, in points, with its 95 % interval`,
			class: "number",
		},
		{ text: "Relative", hint: `By how much of the share ${before.toLowerCase()}`, class: "number wide-only" },
		{
			text: "By chance",
			hint: "Of all rows that differ as surely, this part is expected to be chance (q, false discovery rate)",
			class: "number wide-only",
		},
		{ text: "Function", hint: "", class: "" },
	];
}

interface RowProps {
	entry: DiffRow;
	figure: "self" | "total";
	verdict: Words["verdict"];
	row: number;
	index: number;
	active: boolean;
	onSelect: () => void;
	onOpen: () => void;
}

function Row({ entry, figure, verdict, row, index, active, onSelect, onOpen }: RowProps): JSX.Element {
	const value = entry[figure];
	const name = display(cut(entry.qualname || entry.name, 300));
	const place = entry.line > 0 ? `${entry.file}:${entry.line}` : entry.file;
	return (
		<div
			class={`row ${value.verdict}${active ? " selected" : ""}`}
			id={`change-${row}`}
			role="row"
			aria-rowindex={index + 2}
			aria-selected={active}
			onClick={onSelect}
			onDblClick={onOpen}
		>
			<div class="diff-verdict" role="gridcell">{verdict(value.verdict)}</div>
			<div class="number" role="gridcell">{percent(value.before)}</div>
			<div class="number" role="gridcell">{percent(value.after)}</div>
			<div class="number" role="gridcell">{pointsText(value)}</div>
			<div class="number wide-only" role="gridcell">{relativeText(value)}</div>
			<div class="number wide-only" role="gridcell">{qText(value.q)}</div>
			<div class="cut name" role="gridcell" title={display(cut(place, 300))}>
				{name} <span class="muted">{display(cut(place, 300))}</span>
			</div>
		</div>
	);
}

function Head({ columns }: { columns: readonly Column[] }): JSX.Element {
	return (
		<div class="row head" role="row" aria-rowindex={1}>
			{columns.map(({ text, hint, class: classes }) => (
				<div key={text} role="columnheader" class={classes} title={hint}>
					{text}
				</div>
			))}
		</div>
	);
}

interface Props {
	page: Page;
	list: readonly DiffRow[];
	figure: "self" | "total";
	words: Words;
}

export function ChangesTable({ page, list, figure, words }: Props): JSX.Element {
	const columns = useMemo(() => columnsOf(words), [words]);
	const order = useMemo(() => orderOfChanges(list, figure), [list, figure]);
	const [chosen, setChosen] = useState(-1);
	const active = order.indexOf(chosen);
	const functionOf = (row: number): number | null => functionOfRow(page.profile, list[row]);
	const select = (row: number): void => {
		setChosen(row);
		page.change({ selected: functionOf(row), at: null });
	};
	const open = (row: number): void => {
		const fn = functionOf(row);
		if (fn !== null) page.change({ selected: fn, at: null, view: "sandwich" });
	};
	const onKeyDown = (event: KeyboardEvent): void => {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const step = stepOfKey(event, active, order.length, PAGE);
		if (step !== null) select(order[step]);
		else if (event.key === "Enter" && chosen >= 0) open(chosen);
		else return;
		event.preventDefault();
	};
	return (
		<VirtualRows
			class="changes"
			role="grid"
			label={words.label}
			columns={columns.length}
			count={order.length}
			rowHeight={ROW}
			active={active}
			activeId={active < 0 ? undefined : `change-${chosen}`}
			header={<Head columns={columns} />}
			onKeyDown={onKeyDown}
			rows={(first, last) =>
				order.slice(first, last).map((row, i) => (
					<Row
						key={row}
						entry={list[row]}
						figure={figure}
						verdict={words.verdict}
						row={row}
						index={first + i}
						active={row === chosen}
						onSelect={() => select(row)}
						onOpen={() => open(row)}
					/>
				))
			}
		/>
	);
}
