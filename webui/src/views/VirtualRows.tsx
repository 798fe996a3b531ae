// SPDX-License-Identifier: Apache-2.0
/* A list of which only the rows that are seen exist. Rows have one height; browsers cannot scroll further than some
 * 10 to 30 million pixels, so what is higher than MOST scrolls in larger steps. */

import type { ComponentChildren, JSX } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";

const MOST = 8_000_000;
const BEYOND = 6; /* rows drawn above and below what is seen */

interface Props {
	count: number;
	rowHeight: number;
	/** The row that the keyboard is on; it is kept in sight. */
	active: number;
	/** Those from first to last - 1: all at once, as some figures are cheaper together. */
	rows: (first: number, last: number) => JSX.Element[];
	header?: ComponentChildren;
	role: "grid" | "treegrid" | "listbox";
	label: string;
	columns?: number;
	activeId?: string | undefined;
	class?: string;
	onKeyDown: (event: KeyboardEvent) => void;
}

interface Port {
	top: number;
	height: number;
}

/** Pixels of rows for each pixel that is scrolled. */
function stretch(rows: number, view: number): number {
	return rows <= MOST ? 1 : (rows - view) / (MOST - view);
}

interface Span {
	readonly from: number;
	readonly to: number;
}

/** Where the view begins that has the row in its middle. */
function around(row: Span, view: number): number {
	return Math.max(0, row.from - view / 2);
}

/** Where the view has to begin for the row to be seen: one step further, or with the row in the middle after a jump. */
function scrolledTo(row: Span, seen: Span): number {
	const view = seen.to - seen.from;
	const near = row.to - row.from;
	if (row.from >= seen.from && row.to <= seen.to) return seen.from;
	if (row.from < seen.from && row.from >= seen.from - near) return row.from;
	if (row.to > seen.to && row.to <= seen.to + near) return row.to - view;
	return around(row, view);
}

function usePort(): [{ current: HTMLDivElement | null }, Port, () => void] {
	const box = useRef<HTMLDivElement>(null);
	const [port, setPort] = useState<Port>({ top: 0, height: 0 });
	const look = useCallback(() => {
		const at = box.current;
		if (at) setPort({ top: at.scrollTop, height: at.clientHeight });
	}, []);
	useLayoutEffect(() => {
		look();
		const watch = new ResizeObserver(look);
		if (box.current) watch.observe(box.current);
		return () => watch.disconnect();
	}, [look]);
	return [box, port, look];
}

export function VirtualRows(props: Props): JSX.Element {
	const { count, rowHeight, active } = props;
	const [box, port, look] = usePort();
	const head = useRef<HTMLDivElement>(null);
	const jumped = useRef({ row: -1, top: 0 });
	const headHeight = head.current?.offsetHeight ?? 0;
	const all = count * rowHeight;
	const view = Math.max(rowHeight, port.height - headHeight);
	const factor = stretch(all, view);
	const top = port.top * factor;
	const first = Math.max(0, Math.floor(top / rowHeight) - BEYOND);
	const last = Math.min(count, Math.ceil((top + view) / rowHeight) + BEYOND);

	useLayoutEffect(() => {
		const at = box.current;
		if (!at || port.height === 0 || active < 0 || active >= count) return;
		const seen = { from: at.scrollTop * factor, to: at.scrollTop * factor + view };
		const row = { from: active * rowHeight, to: (active + 1) * rowHeight };
		/* What has come into sight by a jump stays in the middle when the height changes, as it does while a page
		 * opens: a link shows the same. Not once somebody has scrolled. */
		const untouched = jumped.current.row === active && jumped.current.top === at.scrollTop;
		const to = untouched ? around(row, view) : scrolledTo(row, seen);
		if (to !== seen.from) at.scrollTop = to / factor;
		if (to === around(row, view)) jumped.current = { row: active, top: at.scrollTop };
	}, [active, count, rowHeight, factor, view, port.height]);

	return (
		<div
			ref={box}
			class={`rows ${props.class ?? ""}`}
			role={props.role}
			aria-label={props.label}
			aria-rowcount={props.role === "listbox" ? undefined : count + 1}
			aria-colcount={props.columns}
			aria-activedescendant={props.activeId}
			tabIndex={0}
			onScroll={look}
			onKeyDown={props.onKeyDown}
		>
			{props.header ? (
				<div class="rows-head" role="rowgroup" ref={head}>
					{props.header}
				</div>
			) : null}
			<div
				class="rows-room"
				role={props.role === "listbox" ? "presentation" : "rowgroup"}
				style={{ height: `${Math.min(all, MOST)}px` }}
			>
				<div
					class="rows-seen"
					role="presentation"
					style={{ transform: `translateY(${port.top - top + first * rowHeight}px)` }}
				>
					{props.rows(first, last)}
				</div>
			</div>
		</div>
	);
}
