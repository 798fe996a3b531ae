// SPDX-License-Identifier: Apache-2.0
/* What a comparison found, function by function. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { DiffReport } from "../data/profile";
import { cut, display } from "../model/names";
import { percent } from "../model/numbers";
import { orderOfChanges, pointsText, qText, relativeText, verdictText } from "./changeText";
import { functionOfRow } from "./functionsByName";
import type { Page } from "./page";
import { stepOfKey } from "./rowKeys";
import { VirtualRows } from "./VirtualRows";

const ROW = 26;
const PAGE = 20;
const HEADS = ["Change", "Before", "After", "Points", "Relative", "q", "Function"] as const;
const HINTS = [
	"What is called a change is not likely to be chance",
	"Share before",
	"Share after",
	"Difference of the shares, with its 95 % interval",
	"By how much of what it was",
	"False discovery rate at which the change would be believed",
	"",
] as const;

interface RowProps {
	report: DiffReport;
	figure: "self" | "total";
	row: number;
	index: number;
	active: boolean;
	onSelect: () => void;
	onOpen: () => void;
}

function Row({ report, figure, row, index, active, onSelect, onOpen }: RowProps): JSX.Element {
	const entry = report.list[row];
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
			<div class="diff-verdict" role="gridcell">{verdictText(value.verdict)}</div>
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

function Head(): JSX.Element {
	return (
		<div class="row head" role="row" aria-rowindex={1}>
			{HEADS.map((text, i) => (
				<div
					key={text}
					role="columnheader"
					class={i === 0 || i === 6 ? "" : i === 4 || i === 5 ? "number wide-only" : "number"}
					title={HINTS[i]}
				>
					{text}
				</div>
			))}
		</div>
	);
}

interface Props {
	page: Page;
	report: DiffReport;
	figure: "self" | "total";
}

export function ChangesTable({ page, report, figure }: Props): JSX.Element {
	const order = useMemo(() => orderOfChanges(report, figure), [report, figure]);
	const [chosen, setChosen] = useState(-1);
	const active = order.indexOf(chosen);
	const functionOf = (row: number): number | null => functionOfRow(page.profile, report.list[row]);
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
			label="Changes of functions"
			columns={HEADS.length}
			count={order.length}
			rowHeight={ROW}
			active={active}
			activeId={active < 0 ? undefined : `change-${chosen}`}
			header={<Head />}
			onKeyDown={onKeyDown}
			rows={(first, last) =>
				order.slice(first, last).map((row, i) => (
					<Row
						key={row}
						report={report}
						figure={figure}
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
