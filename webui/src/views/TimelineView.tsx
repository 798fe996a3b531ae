// SPDX-License-Identifier: Apache-2.0
/* What all threads did when, on top of every view. A range of time that is chosen here is a filter for all of them. */

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Span } from "../canvas/brush";
import type { RanShares } from "../canvas/heat";
import type { Point } from "../canvas/pointer";
import type { Profile } from "../data/profile";
import type { Steps } from "../data/steps";
import { eventMarks, eventsOf } from "../model/events";
import { time } from "../model/numbers";
import { type StripColumns, tickNs } from "../model/strip";
import { placeOf } from "../model/tree";
import type { Columns } from "../state/derived";
import type { Page } from "./page";
import { StripAxis } from "./StripAxis";
import { StripBrush } from "./StripBrush";
import { StripCanvas } from "./StripCanvas";
import { StripEvents } from "./StripEvents";
import { StripLegend } from "./StripLegend";
import { StripMarks } from "./StripMarks";
import { StripNames } from "./StripNames";
import { stripRows, type StripRow } from "./stripRows";
import { stripTip, type StripPoint } from "./stripTip";
import { brief } from "./text";
import { Tip } from "./Tip";
import { useSettled } from "./useSettled";
import { useWidth } from "./useSize";

function seconds(ns: number): string {
	return `${(ns / 1e9).toFixed(2)} s`;
}

function saidOf(span: Span | null, duration: number, { binNs, bins }: Profile["cells"]): string {
	if (bins < 2) return `all ${time(duration)}; there are too many stacks to keep their times: no part can be chosen`;
	const step = `in steps of ${time(binNs)}`;
	if (!span) return `all ${time(duration)}; drag to choose a part, ${step}`;
	const [from, to] = span;
	return `${seconds(from)} to ${seconds(to)}, ${time(to - from)} of ${time(duration)}, ${step}`;
}

/** Of the axis below the sum of all threads, and of a mark on it. */
const AXIS_HEIGHT = 18;
const EVENT_WIDTH = 8;
/** Pixels of a column: finer is more to draw than to see. */
const COLUMN = 2;
/** A column has so many samples of a thread at least, or single ticks would look like gaps. */
const LEAST_TICKS = 3;

function columnsOf({ strip, meta }: Profile, width: number): number {
	const tick = tickNs(meta);
	const ticks = tick > 0 ? (strip.bins * strip.binNs) / (LEAST_TICKS * tick) : Infinity;
	return Math.max(1, Math.min(strip.bins, Math.floor(width / COLUMN), Math.floor(ticks)));
}

/** The groups that are open, and how to open or close one. */
function useOpen(): [ReadonlySet<string>, (key: string) => void] {
	const [open, setOpen] = useState<ReadonlySet<string>>(new Set<string>());
	const toggle = (key: string): void =>
		setOpen((now) => new Set(now.has(key) ? [...now].filter((one) => one !== key) : [...now, key]));
	return [open, toggle];
}

interface Ran {
	readonly shown: Page["shown"];
	readonly fn: number | null;
	readonly when: Columns;
}

/** And what the pointer will ask for. */
function* aheadOfRan({ shown, fn, when }: Ran): Steps<void> {
	if (shown.profile.cells.bins > 1) yield* shown.aheadOfMoments();
	if (fn !== null) yield* shown.aheadOfRan(fn, when);
}

/** When the selected function was on the stack, by row: of several threads where any of them was in it. */
function useRan(page: Page, rows: readonly StripRow[], { full }: StripColumns, columns: number): RanShares | null {
	const { state, profile } = page;
	const { processes, threads, time, states, idle } = state.filter;
	const parts = [profile, state.selected, columns, full, processes, threads, time, states, idle];
	const when = { durationNs: profile.strip.bins * profile.strip.binNs, columns, full };
	const settled = useSettled({ shown: page.shown, fn: state.selected, when }, parts, aheadOfRan);
	const ran = useMemo(() => {
		if (!settled || settled.fn === null) return null;
		return settled.shown.ran(settled.fn, settled.when);
	}, [settled]);
	return useMemo(() => {
		if (!ran) return null;
		return rows.map((row) => {
			const all = row.threads.flatMap((thread) => ran.get(thread) ?? []);
			if (all.length < 2) return all[0] ?? null;
			return all.reduce((most, one) => most.map((share, i) => Math.max(share, one[i])));
		});
	}, [ran, rows]);
}

interface Hover {
	readonly x: number;
	readonly at: Point;
	readonly point: StripPoint;
}

/** The row at a height of the window: the first one stays in sight above those that scroll. */
function rowAt(plot: HTMLElement, rows: readonly StripRow[], y: number): StripRow | undefined {
	const [total, ...below] = rows;
	const head = plot.firstElementChild?.getBoundingClientRect();
	if (!head || y < head.bottom) return total;
	const inRows = y - plot.getBoundingClientRect().top - head.height;
	return below.find(({ top, height }) => inRows >= top && inRows < top + height);
}

interface LayersProps {
	rows: readonly StripRow[];
	ran: RanShares | null;
	/** Of the rows those from first to last - 1. */
	first: number;
	last: number;
	columns: number;
	width: number;
	dark: boolean;
}

/** Drawn anew only when what is drawn changes: there can be very much of it. */
function Layers({ rows, ran, first, last, columns, width, dark }: LayersProps): JSX.Element {
	const some = useMemo(() => rows.slice(first, last), [rows, first, last]);
	const marks = useMemo(() => ran?.slice(first, last) ?? null, [ran, first, last]);
	const height = some.reduce((sum, row) => sum + row.height, 0);
	return (
		<div class="strip-layers">
			<StripCanvas rows={some} columns={columns} width={width} height={height} dark={dark} />
			{marks ? <StripMarks rows={some} ran={marks} width={width} height={height} dark={dark} /> : null}
		</div>
	);
}

export function TimelineView({ page }: { page: Page }): JSX.Element {
	const { profile, shown, state, change, dark } = page;
	const plot = useRef<HTMLDivElement>(null);
	const width = useWidth(plot);
	const [open, toggleOpen] = useOpen();
	const [hover, setHover] = useState<Hover | null>(null);
	const { meta, strip, cells } = profile;
	const duration = strip.bins * strip.binNs;
	const columns = columnsOf(profile, width);
	const { processes, threads, idle } = state.filter;
	const span = shown.range;
	const sampled = useMemo(() => shown.strip(0, duration, columns), [profile, columns, processes, threads, idle]);
	const rows = useMemo(() => stripRows(profile, sampled, columns, open), [sampled, open]);
	const ran = useRan(page, rows, sampled, columns);
	const marks = useMemo(() => {
		const places = Math.max(1, Math.floor(width / EVENT_WIDTH));
		return eventMarks(eventsOf(meta, { processes, threads }), duration, places);
	}, [meta, processes, threads, duration, width]);
	useEffect(() => setHover(null), [rows]);
	if (meta.untimed || strip.bins < 2) {
		return <p class="strip-none">This profile does not say when samples were taken: there is no timeline.</p>;
	}
	const choose = (time: Span | null): void => {
		if (time !== state.filter.time) change({ filter: { ...state.filter, time } });
	};
	const toggle = (wanted: readonly number[]): void => {
		const only = threads?.length === wanted.length && wanted.every((thread) => threads.includes(thread));
		change({ filter: { ...state.filter, threads: only ? null : [...wanted].sort((a, b) => a - b) } });
	};
	const pointAt = (x: number, at: Point): StripPoint | null => {
		const row = plot.current && rowAt(plot.current, rows, at.y);
		if (!row || row.shares.length === 0) return null;
		const column = Math.min(columns - 1, Math.max(0, Math.floor((x / width) * columns)));
		return { row, column, fromNs: (column * duration) / columns, toNs: ((column + 1) * duration) / columns };
	};
	const onHover = (x: number, at: Point): void => {
		const point = pointAt(x, at);
		setHover(point && { x, at, point });
	};
	const onPick = (x: number, at: Point): void => {
		const point = pointAt(x, at);
		const thread = point?.row.thread ?? null;
		const moment = point && thread !== null ? shown.momentAt(thread, [point.fromNs, point.toNs]) : null;
		const tree = shown.tree();
		if (moment) change({ selected: tree.fn[moment.node], at: placeOf(tree, moment.node) });
	};
	const drawn = { rows, ran, columns, width, dark };
	return (
		<section class="strip" aria-label="Timeline">
			<div class="strip-body" tabIndex={-1}>
				<StripNames rows={rows} chosen={threads} onToggle={toggle} onOpen={toggleOpen} />
				<div ref={plot} class="strip-plot">
					<div class="strip-head">
						<Layers {...drawn} first={0} last={1} />
						<StripAxis duration={duration} width={width} />
					</div>
					<Layers {...drawn} first={1} last={Infinity} />
					{hover ? <div class="strip-cursor" style={{ left: `${hover.x}px` }} /> : null}
					{cells.bins > 1 ? (
						<StripBrush
							axis={{ duration, unit: cells.binNs, width }}
							span={span}
							onChoose={choose}
							onHover={onHover}
							onLeave={() => setHover(null)}
							onPick={onPick}
						/>
					) : null}
					{marks.length > 0 && width > 0 ? (
						<StripEvents marks={marks} duration={duration} height={(rows[0]?.height ?? 0) + AXIS_HEIGHT} />
					) : null}
				</div>
			</div>
			<StripLegend
				page={page}
				ran={ran && state.selected !== null ? brief(page.names.full(state.selected), 40) : null}
				said={saidOf(span, duration, cells)}
				onClear={span ? () => choose(null) : null}
			/>
			{hover ? <Tip text={stripTip(page, hover.point)} x={hover.at.x} y={hover.at.y} /> : null}
		</section>
	);
}
