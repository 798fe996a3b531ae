// SPDX-License-Identifier: Apache-2.0
/* The flame graph of everything that passes the filters. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { nodeAt, placeOf, type Tree } from "../model/tree";
import type { State } from "../state/state";
import { FlameCanvas } from "./FlameCanvas";
import { alikeBefore, laidOut, lookOf } from "./flameLook";
import { flameText } from "./flameText";
import type { Page } from "./page";
import { useLineRows } from "./useLineRows";

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

export function FlameView({ page }: { page: Page }): JSX.Element {
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
