// SPDX-License-Identifier: Apache-2.0
/* All functions, or all lines, in a table that can be sorted. Search leaves those that were found. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { unknownLine } from "../model/names";
import { count } from "../model/numbers";
import type { FunctionRows } from "../model/functions";
import type { SortColumn, State } from "../state/state";
import { ShareCell } from "./Figure";
import { orderedRows } from "./functionOrder";
import type { Page } from "./page";
import { openMenuAt, stepOfKey } from "./rowKeys";
import { Swatch } from "./Swatch";
import { brief } from "./text";
import { valueText } from "./units";
import { useSettled } from "./useSettled";
import { VirtualRows } from "./VirtualRows";

const ROW = 26;
const PAGE = 20;

interface Column {
	readonly column: SortColumn;
	readonly text: string;
	readonly class: string;
}

const columns: readonly Column[] = [
	{ column: "self", text: "Self", class: "number" },
	{ column: "total", text: "Total", class: "number" },
	{ column: "name", text: "Function", class: "" },
	{ column: "file", text: "File", class: "wide-only" },
];

/** Numbers begin with the largest, names with A; the same column again turns it round. */
function nextSort(sort: State["sort"], column: SortColumn): State["sort"] {
	if (sort.column === column) return { column, descending: !sort.descending };
	return { column, descending: column === "self" || column === "total" };
}

function Head({ page }: { page: Page }): JSX.Element {
	const { sort } = page.state;
	const order = sort.descending ? "descending" : "ascending";
	return (
		<div class="row head" role="row" aria-rowindex={1}>
			{columns.map(({ column, text, class: classes }) => (
				<div
					key={column}
					role="columnheader"
					class={classes}
					aria-sort={sort.column === column ? order : "none"}
				>
					<button type="button" tabIndex={-1} onClick={() => page.change({ sort: nextSort(sort, column) })}>
						{text}
						{sort.column === column ? (
							<span aria-hidden="true">{sort.descending ? " ↓" : " ↑"}</span>
						) : null}
					</button>
				</div>
			))}
		</div>
	);
}

interface Widths {
	readonly self: number;
	readonly total: number;
}

interface RowProps {
	page: Page;
	rows: FunctionRows;
	row: number;
	index: number;
	halfWidths: Widths | undefined;
	selected: boolean;
}

/** Of a row: a table of functions tells where they begin. */
function lineOf({ state }: Page, line: number): number {
	return state.by === "line" && line === 0 ? unknownLine : line;
}

function Row({ page, rows, row, index, halfWidths, selected }: RowProps): JSX.Element {
	const fn = rows.fn[row];
	const { whole } = page.shown;
	const select = (): void => page.change({ selected: fn, at: null, line: rows.line[row] || null });
	const onMenu = (event: MouseEvent): void => {
		event.preventDefault();
		select();
		page.openMenu(fn, event.clientX, event.clientY);
	};
	return (
		<div
			class={`row${selected ? " selected" : ""}${fn === page.state.selected ? " alike" : ""}`}
			id={`row-${row}`}
			role="row"
			aria-rowindex={index + 2}
			aria-selected={selected}
			onClick={select}
			onDblClick={() => page.change({ view: "sandwich", selected: fn })}
			onContextMenu={onMenu}
		>
			<div class="share" role="gridcell">
				<ShareCell share={rows.self[row] / whole} halfWidth={halfWidths?.self} />
				<span class="value wide-only">{valueText(page, rows.self[row])}</span>
			</div>
			<div class="share" role="gridcell">
				<ShareCell share={rows.total[row] / whole} halfWidth={halfWidths?.total} />
				<span class="value wide-only">{valueText(page, rows.total[row])}</span>
			</div>
			<div class="tree-name" role="gridcell">
				<Swatch page={page} fn={fn} />
				<span class="cut name">{brief(page.names.full(fn), 300)}</span>
			</div>
			<div class="cut muted name wide-only" role="gridcell">
				{brief(page.names.place(fn, lineOf(page, rows.line[row])), 200)}
			</div>
		</div>
	);
}

interface RowsProps {
	page: Page;
	rows: FunctionRows;
	order: Uint32Array;
	first: number;
	last: number;
	active: number;
}

/** Intervals of the rows that are seen: they are dear, so that they follow when scrolling rests. */
function useWidths({ page, rows, order, first, last }: RowsProps): ReadonlyMap<number, Widths> {
	const settled = useSettled(
		{ shown: page.shown, rows, seen: [...order.subarray(first, last)] },
		[rows, order, first, last],
		({ shown, seen }) => shown.aheadOfRows(seen),
	);
	const known = useMemo(() => new Map<number, Widths>(), [rows]);
	return useMemo(() => {
		if (!settled || settled.rows !== rows) return known;
		const { self, total } = settled.shown.rowHalfWidths(settled.seen);
		settled.seen.forEach((row, i) => known.set(row, { self: self[i], total: total[i] }));
		return known;
	}, [settled, known]);
}

function Rows(props: RowsProps): JSX.Element {
	const { page, rows, order, first, last, active } = props;
	const widths = useWidths(props);
	return (
		<>
			{[...order.subarray(first, last)].map((row, i) => (
				<Row
					key={row}
					page={page}
					rows={rows}
					row={row}
					index={first + i}
					halfWidths={widths.get(row)}
					selected={first + i === active}
				/>
			))}
		</>
	);
}

/** The rows in the order asked for; with a search those that were found. */
function useOrder(page: Page, rows: FunctionRows): Uint32Array {
	const { search, regex, sort } = page.state;
	const found = page.shown.search().rows;
	return useMemo(
		() => orderedRows(page.profile, rows, sort, found),
		[rows, search, regex, sort.column, sort.descending],
	);
}

export function FunctionsView({ page }: { page: Page }): JSX.Element {
	const rows = page.shown.rows();
	const order = useOrder(page, rows);
	const { selected, line, by } = page.state;
	const active = order.findIndex(
		(row) => rows.fn[row] === selected && (by === "function" || rows.line[row] === (line ?? 0)),
	);
	const select = (index: number): void =>
		page.change({ selected: rows.fn[order[index]], at: null, line: rows.line[order[index]] || null });
	const onKeyDown = (event: KeyboardEvent): void => {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const step = stepOfKey(event, active, order.length, PAGE);
		if (step !== null) select(step);
		else if (event.key === "Enter" && selected !== null) page.change({ view: "sandwich" });
		else if (!openMenuAt(event, page, active < 0 ? -1 : rows.fn[order[active]], `row-${order[active]}`)) return;
		event.preventDefault();
	};
	const what = by === "line" ? "lines" : "functions";
	if (order.length === 0) return <p class="empty">No {what} pass the filters and the search.</p>;
	return (
		<>
			<VirtualRows
				class="functions"
				role="grid"
				label={by === "line" ? "Lines" : "Functions"}
				columns={4}
				count={order.length}
				rowHeight={ROW}
				active={active}
				activeId={active < 0 ? undefined : `row-${order[active]}`}
				header={<Head page={page} />}
				onKeyDown={onKeyDown}
				rows={(first, last) => [
					<Rows
						key="rows"
						page={page}
						rows={rows}
						order={order}
						first={first}
						last={last}
						active={active}
					/>,
				]}
			/>
			<p class="table-foot muted">
				{order.length === rows.count
					? `${count(rows.count)} ${what}`
					: `${count(order.length)} of ${count(rows.count)} ${what}`}
			</p>
		</>
	);
}
