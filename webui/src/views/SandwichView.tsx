// SPDX-License-Identifier: Apache-2.0
/* One function with everything above and below it: its callers grow upwards, its callees downwards, merged over all the
 * places where it was called. Both pictures are as wide as the function's total. */

import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import type { Scene } from "../canvas/flame";
import { cut, display } from "../model/names";
import { sharePm } from "../model/numbers";
import type { Tree } from "../model/tree";
import { FlameCanvas, type PictureSlot } from "./FlameCanvas";
import { laidOut, lookOf } from "./flameLook";
import { flameText } from "./flameText";
import type { Page } from "./page";
import { valueText } from "./units";
import { useChosen } from "./useChosen";
import { useLineRows } from "./useLineRows";

interface HalfProps {
	page: Page;
	tree: Tree;
	/** The lower half, else that of the callers. */
	callees: boolean;
	label: string;
	picture: PictureSlot;
}

/** What is near and selected belongs to the half, since both are of this one function. */
function Half({ page, tree, callees, label, picture }: HalfProps): JSX.Element {
	const { shown, state, change, dark } = page;
	const { zoom, selected, choose } = useChosen(tree);
	const flame = laidOut(tree);
	const text = flameText({ ...page, lines: useLineRows(page) }, tree, flame, callees);
	const look = useMemo(
		() => lookOf(shown, tree, dark, text, callees),
		[shown.profile, tree, dark, state.search, state.regex],
	);
	return (
		<FlameCanvas
			tree={flame}
			look={look}
			flipped={!callees}
			zoom={zoom}
			selected={selected}
			label={label}
			tip={text.tip}
			sentence={text.sentence}
			onSelect={(node) => choose({ selected: node })}
			onZoom={(node) => choose({ zoom: node })}
			onOpen={(node) => change({ selected: tree.fn[node], at: null })}
			onMenu={(node, at) => page.openMenu(tree.fn[node], at.x, at.y)}
			picture={picture}
		/>
	);
}

interface Halves {
	upper: PictureSlot;
	lower: PictureSlot;
}

/** The picture of the view is that of its halves, one below the other. */
function usePictureOfBoth(picture: PictureSlot): Halves {
	const halves = useMemo<Halves>(() => ({ upper: { current: null }, lower: { current: null } }), []);
	useEffect(() => {
		const both = (): readonly Scene[] => [
			...(halves.upper.current?.() ?? []), ...(halves.lower.current?.() ?? []),
		];
		picture.current = both;
		/* The view that comes next may have its picture there already. */
		return () => {
			if (picture.current === both) picture.current = null;
		};
	}, [picture]);
	return halves;
}

export function SandwichView({ page }: { page: Page }): JSX.Element {
	const { shown } = page;
	const fn = page.state.selected;
	const halves = usePictureOfBoth(page.picture);
	if (fn === null) {
		return <p class="empty">Choose a function in another view; its callers and callees are shown here.</p>;
	}
	const name = display(cut(page.names.full(fn), 200));
	const { total } = shown.functionFigures(fn);
	if (total.value === 0) return <p class="empty">{name} is in none of the samples that pass the filters.</p>;
	return (
		<div class="sandwich">
			<Half
				page={page}
				tree={shown.callers(fn)}
				callees={false}
				label={`Callers of ${name}, upwards`}
				picture={halves.upper}
			/>
			<div class="sandwich-middle">
				<span>callers above, callees below</span>
				<strong>{name}</strong>
				<span>
					{valueText(page, total.value)}, {sharePm(total.share, total.halfWidth)} of all
				</span>
				<span class="wide-only">double click or Enter goes to another function</span>
			</div>
			<Half
				page={page}
				tree={shown.callees(fn)}
				callees={true}
				label={`Callees of ${name}, downwards`}
				picture={halves.lower}
			/>
		</div>
	);
}
