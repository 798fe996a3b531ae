// SPDX-License-Identifier: Apache-2.0
/* The flame graph of everything that passes the filters. Where it is low and the screen is not, the table of functions
 * is below it. */

import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";

import { ROW_HEIGHT } from "../canvas/rows";
import { rowsOf } from "../canvas/steps";
import { nodeAt, placeOf, type Tree } from "../model/tree";
import type { State } from "../state/state";
import { FlameCanvas } from "./FlameCanvas";
import { alikeBefore, laidOut, lookOf } from "./flameLook";
import { flameText } from "./flameText";
import { FunctionsView } from "./FunctionsView";
import type { Page } from "./page";
import { useHeight } from "./useSize";
import { useLineRows } from "./useLineRows";
import { useSettled } from "./useSettled";

/** What the graph leaves free is given to the table from so many pixels on. */
const ENOUGH = 400;
/** Below the last row, so that it is seen to be the last. */
const GROUND = 16;

function selectedNode(state: State, tree: Tree): number {
	const node = state.at ? nodeAt(tree, state.at) : -1;
	return node >= 0 && tree.fn[node] === state.selected ? node : -1;
}

function labelOf({ inverted, flipped }: State): string {
	const direction = flipped ? "upwards" : "downwards";
	return inverted
		? `Flame graph from the innermost function to its callers, ${direction}`
		: `Flame graph from callers to callees, ${direction}`;
}

/** Its rows are dear to make of many stacks, so that it follows the picture. */
function Below({ page }: { page: Page }): JSX.Element | null {
	const { filter, transforms, by, unit } = page.state;
	const parts = [page.profile, filter, transforms, by, unit];
	const latest = useMemo(() => ({ shown: page.shown }), parts);
	const settled = useSettled(latest, parts, ({ shown }) => shown.aheadOfTables());
	const made = useRef<Page | null>(null);
	if (settled === latest) made.current = page;
	return made.current ? (
		<div class="flame-below">
			<FunctionsView page={made.current} />
		</div>
	) : null;
}

export function FlameView({ page }: { page: Page }): JSX.Element {
	const box = useRef<HTMLDivElement>(null);
	const free = useHeight(box);
	const rows = rowsOf(laidOut(page.shown.shownTree()));
	const height = rows * ROW_HEIGHT + GROUND;
	const isLow = rows > 0 && free - height >= ENOUGH;
	return (
		<div ref={box} class="flame-view">
			<div class="flame-room" style={isLow ? { flex: "none", height: `${height}px` } : {}}>
				<Flame page={page} />
			</div>
			{isLow ? <Below page={page} /> : null}
		</div>
	);
}

function Flame({ page }: { page: Page }): JSX.Element {
	const { shown, state, change, dark } = page;
	const tree = shown.shownTree();
	const flame = laidOut(tree);
	const text = flameText({ ...page, lines: useLineRows(page) }, tree, flame, !state.inverted);
	const look = useMemo(
		() => lookOf(shown, tree, dark, text, !state.inverted),
		[shown.profile, tree, dark, state.search, state.regex],
	);
	const alike = useMemo(() => alikeBefore(tree, state.selected), [tree, state.selected]);
	if (flame.sum === 0) return <p class="empty">No samples pass the filters.</p>;
	return (
		<FlameCanvas
			tree={flame}
			look={look}
			flipped={state.flipped}
			zoom={state.zoom ? nodeAt(tree, state.zoom) : -1}
			seen={state.seen}
			selected={selectedNode(state, tree)}
			alike={alike}
			label={labelOf(state)}
			tip={text.tip}
			sentence={text.sentence}
			onSelect={(node) => change({ selected: tree.fn[node], at: placeOf(tree, node) })}
			onZoom={(node) => change({ zoom: node < 0 ? null : placeOf(tree, node), seen: null })}
			onSeen={(seen) => change({ seen })}
			onMenu={(node, at) => page.openMenu(tree.fn[node], at.x, at.y)}
			picture={page.picture}
		/>
	);
}
