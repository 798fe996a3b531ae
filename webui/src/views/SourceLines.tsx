// SPDX-License-Identifier: Apache-2.0
/* The lines of a file with their heat, and the expression that took most of each underlined. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { percent } from "../model/numbers";
import type { FileLines } from "../model/lines";
import { codeParts } from "./codeText";
import { LineMap } from "./LineMap";
import type { Page } from "./page";
import { stepOfKey } from "./rowKeys";
import { foundLines } from "./searchSteps";
import { linesOfSelected, sourceRows, type SourceRow } from "./sourceRows";
import { VirtualRows } from "./VirtualRows";

const ROW = 22;
const PAGE = 25;
/** How much of its ground the hottest line takes: the text on it stays readable. */
const MOST_HEAT = 0.5;

function Code({ row, lines }: { row: SourceRow; lines: FileLines }): JSX.Element {
	if (row.text === null) return <span class="muted">no text</span>;
	const best = row.sampled < 0 ? undefined : lines.expressions(row.sampled)[0];
	if (!best) return <>{codeParts(row.text, -1, -1).before}</>;
	const { before, inside, after } = codeParts(row.text, best.column, best.endLine > row.line ? -1 : best.endColumn);
	return (
		<>
			{before}
			{inside === "" ? null : <u>{inside}</u>}
			{after}
		</>
	);
}

interface RowProps {
	page: Page;
	lines: FileLines;
	row: SourceRow;
	index: number;
	hottest: number;
	active: boolean;
	/** The selected function was sampled there. */
	alike: boolean;
	/** It holds what is searched for. */
	found: boolean;
	onSelect: () => void;
}

function Gap({ index }: { index: number }): JSX.Element {
	return (
		<div class="row gap" role="row" aria-rowindex={index + 2}>
			<div class="line-number" role="gridcell">
				⋮
			</div>
			<div role="gridcell" />
			<div role="gridcell" />
			<div role="gridcell" />
		</div>
	);
}

function Row({ page, lines, row, index, hottest, active, alike, found, onSelect }: RowProps): JSX.Element {
	if (row.line === 0) return <Gap index={index} />;
	const { whole } = page.shown;
	const self = row.sampled < 0 ? 0 : lines.self[row.sampled];
	const total = row.sampled < 0 ? 0 : lines.total[row.sampled];
	const heat = self > 0 ? (MOST_HEAT * (0.12 + 0.88 * (self / hottest))).toFixed(3) : "0";
	const kinds = { row: true, selected: active, hot: self > 0, alike, found };
	const classes = Object.entries(kinds).flatMap(([name, is]) => (is ? [name] : []));
	return (
		<div
			id={`line-${row.line}`}
			role="row"
			aria-rowindex={index + 2}
			aria-selected={active}
			class={classes.join(" ")}
			style={{ "--much": heat }}
			onClick={onSelect}
		>
			<div class="line-number" role="gridcell">
				{row.line}
			</div>
			<div class="number" role="gridcell">
				{self > 0 ? percent(self / whole) : ""}
			</div>
			<div class="number muted" role="gridcell">
				{total > 0 ? percent(total / whole) : ""}
			</div>
			<div class="code" role="gridcell">
				<Code row={row} lines={lines} />
			</div>
		</div>
	);
}

function Head(): JSX.Element {
	return (
		<div class="row head" role="row" aria-rowindex={1}>
			<div class="muted number" role="columnheader">
				Line
			</div>
			<div class="muted number" role="columnheader">
				Self
			</div>
			<div class="muted number" role="columnheader">
				Total
			</div>
			<div class="muted" role="columnheader">
				Code
			</div>
		</div>
	);
}

/** The next line that was sampled. */
function nextSampled(rows: readonly SourceRow[], from: number, step: 1 | -1): number {
	for (let i = from + step; i >= 0 && i < rows.length; i += step) {
		if (rows[i].sampled >= 0) return i;
	}
	return -1;
}

export function SourceLines({ page, file, lines }: { page: Page; file: number; lines: FileLines }): JSX.Element {
	const source = page.profile.sources.get(file);
	const rows = useMemo(() => sourceRows(source, lines.lines), [source, lines]);
	const hottest = useMemo(() => lines.self.reduce((most, self) => Math.max(most, self), 0), [lines]);
	const own = useMemo(() => linesOfSelected(page, file), [page.profile, page.state.selected, file]);
	const found = useMemo(
		() => new Set(foundLines(page, file)), [page.profile, page.state.search, page.state.regex, file],
	);
	const active = rows.findIndex((row) => row.line !== 0 && row.line === page.state.line);
	const select = (index: number): void => {
		const line = rows[index]?.line;
		if (line) page.change({ line });
	};
	const onKeyDown = (event: KeyboardEvent): void => {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		let to = stepOfKey(event, active, rows.length, PAGE);
		if (event.key === "n" || event.key === "p") to = nextSampled(rows, active, event.key === "n" ? 1 : -1);
		if (to === null) return;
		event.preventDefault();
		/* A row of lines that are left out is stepped over. */
		select(rows[to]?.line === 0 ? to + (to > active ? 1 : -1) : to);
	};
	return (
		<div class="lines-room">
			<VirtualRows
				class="lines"
				role="grid"
				label="Lines of the file"
				columns={4}
				count={rows.length}
				rowHeight={ROW}
				active={active}
				activeId={active < 0 ? undefined : `line-${rows[active].line}`}
				header={<Head />}
				onKeyDown={onKeyDown}
				rows={(first, last) =>
					rows
						.slice(first, last)
						.map((row, i) => (
							<Row
								key={first + i}
								page={page}
								lines={lines}
								row={row}
								index={first + i}
								hottest={hottest}
								active={first + i === active}
								found={found.has(row.line)}
								alike={own?.has(row.line) ?? false}
								onSelect={() => select(first + i)}
							/>
						))
				}
			/>
			<LineMap rows={rows} lines={lines} hottest={hottest} rowHeight={ROW} onGo={select} />
		</div>
	);
}
