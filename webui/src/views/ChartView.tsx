// SPDX-License-Identifier: Apache-2.0
/* The stacks of one thread in the order of time. What the flame graph adds up stands here where it happened. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { instant } from "../canvas/axis";
import { Mostly, paintOfKind, paintOf, paintsOfKinds, themeOf } from "../canvas/colours";
import type { Look } from "../canvas/flame";
import type { Hit } from "../canvas/panel";
import type { Range } from "../canvas/range";
import { missed, type Chart } from "../model/chart";
import { display } from "../model/names";
import { count, time } from "../model/numbers";
import { nodeAt, placeOf, type Tree } from "../model/tree";
import { FlameCanvas } from "./FlameCanvas";
import { countedBefore } from "./flameLook";
import { boxLabel, sourceLine } from "./flameText";
import type { Page } from "./page";
import { StripAxis } from "./StripAxis";
import { brief } from "./text";
import { threadName, threadsInOrder } from "./ThreadFilter";
import type { TipText } from "./Tip";
import { useChosen } from "./useChosen";
import { useSettled } from "./useSettled";
import { useWidth } from "./useSize";

/** Threads of which anything can count; the main thread first, then those that computed most. */
function threadsThere({ profile, state }: Page): number[] {
	const { threads, processes } = state.filter;
	const all = threadsInOrder(profile.meta.threads).filter(
		(id) => (threads?.includes(id) ?? true) && (processes?.includes(profile.meta.threads[id].process) ?? true),
	);
	return all.sort((a, b) => Number(profile.meta.threads[b].main) - Number(profile.meta.threads[a].main));
}

interface Text {
	label(node: number): string;
	tip(hit: Hit): TipText;
	sentence(node: number): string;
}

/** `from`: when the chart begins. */
function textOf({ names, profile }: Page, chart: Chart, tree: Tree, from: number): Text {
	const nameOf = (box: number): string =>
		chart.node[box] === missed ? "missed" : boxLabel(names.full(tree.fn[chart.node[box]]));
	const beginOf = (box: number): string => instant(from + chart.start[box], chart.columnNs);
	const whenOf = (box: number): string => `${beginOf(box)}, for ${time(chart.total[box])}`;
	const sourceOf = (node: number): string | null => {
		const fn = node === missed ? profile.functions.count : tree.fn[node];
		if (fn >= profile.functions.count) return null;
		return sourceLine(profile, profile.functions.file[fn], tree.line[node] || profile.functions.line[fn]);
	};
	const strip = ({ node: first, last, frames }: Hit): TipText => ({
		title: `${count(frames)} frame${frames === 1 ? "" : "s"} too narrow to draw`,
		place: "",
		figures: [["together", time(chart.start[last] + chart.total[last] - chart.start[first])]],
		source: null,
		note: "Click to come nearer.",
	});
	const placeOfBox = (box: number): string => {
		const node = chart.node[box];
		return node === missed ? "" : display(names.place(tree.fn[node], tree.line[node]));
	};
	return {
		label: nameOf,
		sentence: (box) => [nameOf(box), placeOfBox(box), whenOf(box)].filter((part) => part !== "").join(", "),
		tip(hit) {
			const { node: box, frames } = hit;
			if (frames > 0) return strip(hit);
			const node = chart.node[box];
			return {
				title: nameOf(box),
				place: placeOfBox(box),
				figures: [["from", beginOf(box)], ["for about", time(chart.total[box])]],
				source: sourceOf(node),
				note: node === missed ? "The thread was there, and was not sampled." : null,
			};
		},
	};
}

function lookOfChart(page: Page, chart: Chart, tree: Tree, text: Text): Look {
	const { functions, meta } = page.profile;
	const paints = paintsOfKinds(meta.categories, page.dark);
	const theme = themeOf(page.dark);
	const { rows } = page.shown.search();
	const isFrame = (box: number): boolean => chart.node[box] !== missed;
	return {
		theme,
		paints: [...paints, paintOf(theme.line, page.dark, "stripes")],
		paint: (box) =>
			isFrame(box)
				? paintOfKind(functions.category[tree.fn[chart.node[box]]], Mostly.ran)
				: paints.length,
		label: text.label,
		shortLabel: text.label,
		own: null,
		matches: rows && countedBefore(chart, (box) => (isFrame(box) ? rows[tree.fn[chart.node[box]]] : 0)),
	};
}

interface ThreadProps {
	page: Page;
	threads: readonly number[];
	thread: number;
}

function ThreadChoice({ page, threads, thread }: ThreadProps): JSX.Element {
	return (
		<label class="chart-thread">
			Thread{" "}
			<select
				aria-label="Thread"
				value={String(thread)}
				onChange={(event) => page.change({ thread: Number(event.currentTarget.value) })}
			>
				{threads.map((id) => (
					<option key={id} value={String(id)}>
						{brief(threadName(page.profile, page.profile.meta.threads[id]), 80)}
					</option>
				))}
			</select>
		</label>
	);
}

/** The box that is selected: of several of its node the one that was clicked, if it still is. */
function selectedBox(page: Page, chart: Chart, tree: Tree, chosen: number): number {
	const { at, selected } = page.state;
	if (chosen >= 0 && chart.node[chosen] === missed) return selected === null ? chosen : -1;
	const node = at ? nodeAt(tree, at) : -1;
	return chosen >= 0 && node >= 0 && tree.fn[node] === selected && chart.node[chosen] === node ? chosen : -1;
}

function Boxes({ page, thread }: { page: Page; thread: number }): JSX.Element {
	const { shown, state, change, dark } = page;
	const tree = shown.tree();
	const chart = shown.chart(thread);
	const from = shown.range?.[0] ?? 0;
	const text = useMemo(() => textOf(page, chart, tree, from), [chart, page.profile]);
	const look = useMemo(
		() => lookOfChart(page, chart, tree, text),
		[chart, dark, text, state.search, state.regex],
	);
	const alike = useMemo(
		() =>
			state.selected === null
				? null
				: countedBefore(chart, (box) =>
						chart.node[box] !== missed && tree.fn[chart.node[box]] === state.selected ? 1 : 0,
					),
		[chart, state.selected],
	);
	const { zoom, selected, choose } = useChosen(chart);
	const [seen, setSeen] = useState<Range | null>(null);
	const slot = useMemo(() => ({ current: null as HTMLDivElement | null }), []);
	const width = useWidth(slot);
	const axis = seen ?? { from: 0, to: chart.sum };
	return (
		<div class="chart-boxes" ref={slot}>
			<StripAxis from={from + axis.from} duration={axis.to - axis.from} width={width} />
			<FlameCanvas
				tree={chart}
				look={look}
				flipped={false}
				zoom={zoom}
				selected={selectedBox(page, chart, tree, selected)}
				alike={alike}
				label="Stack chart: callers above callees, from left to right the time"
				tip={text.tip}
				sentence={text.sentence}
				onSelect={(box) => {
					const node = chart.node[box];
					choose({ selected: box });
					if (node === missed) change({ selected: null, at: null });
					else change({ selected: tree.fn[node], at: placeOf(tree, node) });
				}}
				onZoom={(box) => choose({ zoom: box })}
				onRange={setSeen}
				onMenu={(box, at) => {
					if (chart.node[box] !== missed) page.openMenu(tree.fn[chart.node[box]], at.x, at.y);
				}}
				picture={page.picture}
			/>
		</div>
	);
}

export function ChartView({ page }: { page: Page }): JSX.Element {
	const threads = threadsThere(page);
	const { thread: wanted } = page.state;
	const thread = wanted !== null && threads.includes(wanted) ? wanted : threads[0];
	if (page.profile.meta.untimed || thread === undefined) {
		return <p class="empty">This profile does not say when samples were taken: stacks have no order in time.</p>;
	}
	return <Chosen page={page} threads={threads} thread={thread} />;
}

/** The chart of the thread; until it is made the one before. */
function Chosen({ page, threads, thread }: ThreadProps): JSX.Element {
	const { filter, transforms, startup, by } = page.state;
	const parts = [page.profile, filter, transforms, startup, by, thread];
	const latest = useMemo(() => ({ page, thread }), parts);
	const settled = useSettled(latest, parts, (of) => of.page.shown.aheadOfChart(of.thread));
	const seen = settled === latest ? { page, thread } : settled;
	return (
		<div class="chart">
			<div class="chart-head">
				<ThreadChoice page={page} threads={threads} thread={thread} />
				<span class="muted">
					{seen ? orderText(seen.page.shown.chart(seen.thread)) : ""}
				</span>
			</div>
			{seen ? <OfThread page={seen.page} thread={seen.thread} /> : null}
		</div>
	);
}

function orderText({ columnNs }: Chart): string {
	return `Stacks in the order of time; within ${time(columnNs)} they have none.`;
}

function OfThread({ page, thread }: { page: Page; thread: number }): JSX.Element {
	if (page.shown.chart(thread).count === 0) return <p class="empty">No samples of this thread pass the filters.</p>;
	return <Boxes key={thread} page={page} thread={thread} />;
}
