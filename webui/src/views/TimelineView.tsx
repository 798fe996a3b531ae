// SPDX-License-Identifier: Apache-2.0
/* What all threads did when, on top of every view. A range of time that is chosen here is a filter for all of them. */

import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import type { Span } from "../canvas/brush";
import type { Profile } from "../data/profile";
import { time } from "../model/numbers";
import type { Page } from "./page";
import { StripAxis } from "./StripAxis";
import { StripBrush } from "./StripBrush";
import { StripCanvas } from "./StripCanvas";
import { StripLegend } from "./StripLegend";
import { StripNames } from "./StripNames";
import { stripRows } from "./stripRows";
import { useWidth } from "./useWidth";

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

/** Pixels of a column: finer is more to draw than to see. */
const COLUMN = 2;

export function TimelineView({ page }: { page: Page }): JSX.Element {
	const { profile, shown, state, change, dark } = page;
	const plot = useRef<HTMLDivElement>(null);
	const width = useWidth(plot);
	const { meta, strip, cells } = profile;
	const duration = strip.bins * strip.binNs;
	const columns = Math.max(1, Math.min(strip.bins, Math.floor(width / COLUMN)));
	const { processes, threads, idle } = state.filter;
	const span = shown.range;
	const rows = useMemo(
		() => stripRows(profile, shown.strip(0, duration, columns), columns),
		[profile, columns, processes, threads, idle],
	);
	if (meta.untimed || strip.bins < 2) {
		return <p class="strip-none">This profile does not say when samples were taken: there is no timeline.</p>;
	}
	const [total, ...below] = rows;
	const height = below.reduce((sum, row) => sum + row.height, 0);
	const choose = (time: Span | null): void => {
		if (time !== state.filter.time) change({ filter: { ...state.filter, time } });
	};
	const toggle = (thread: number): void => {
		const only = threads?.length === 1 && threads[0] === thread;
		change({ filter: { ...state.filter, threads: only ? null : [thread] } });
	};
	return (
		<section class="strip" aria-label="Timeline">
			<div class="strip-body" tabIndex={-1}>
				<StripNames rows={rows} chosen={threads} onToggle={toggle} />
				<div ref={plot} class="strip-plot">
					<div class="strip-head">
						<StripCanvas rows={[total]} columns={columns} width={width} height={total.height} dark={dark} />
						<StripAxis duration={duration} width={width} />
					</div>
					<StripCanvas rows={below} columns={columns} width={width} height={height} dark={dark} />
					{cells.bins > 1 ? (
						<StripBrush axis={{ duration, unit: cells.binNs, width }} span={span} onChoose={choose} />
					) : null}
				</div>
			</div>
			<StripLegend dark={dark} said={saidOf(span, duration, cells)} onClear={span ? () => choose(null) : null} />
		</section>
	);
}
