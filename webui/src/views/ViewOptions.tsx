// SPDX-License-Identifier: Apache-2.0
/* How what passes the filters is drawn. */

import type { JSX } from "preact";

import { percent } from "../model/numbers";
import { nodeAt } from "../model/tree";
import type { Page } from "./page";
import { Switch } from "./Switch";

/** How much of the graph's width is seen; nothing if all is. */
function seenShare({ state: { zoom, seen }, shown }: Page): number {
	if (seen) return seen[1] - seen[0];
	const tree = zoom ? shown.shownTree() : null;
	const node = zoom && tree ? nodeAt(tree, zoom) : -1;
	return tree && node >= 0 ? tree.total[node] / shown.whole : 1;
}

function Scale({ page }: { page: Page }): JSX.Element | null {
	const share = seenShare(page);
	return share < 1 ? <span class="scale muted">{percent(share)} of the width</span> : null;
}

function Directions({ page }: { page: Page }): JSX.Element | null {
	const { view, inverted, flipped, zoom, seen } = page.state;
	if (view !== "flame" && view !== "tree") return null;
	return (
		<>
			{view === "flame" ? (
				<button
					type="button"
					disabled={zoom === null && seen === null}
					title="Show the whole width again (0)"
					onClick={() => page.change({ zoom: null, seen: null })}
				>
					Zoom out
				</button>
			) : null}
			{view === "flame" ? <Scale page={page} /> : null}
			<button
				type="button"
				class={inverted ? "choice chosen" : "choice"}
				aria-pressed={inverted}
				title="Begin with the innermost functions, their callers below (i)"
				onClick={() => page.change({ inverted: !inverted, zoom: null })}
			>
				Inverted
			</button>
			{view === "flame" ? (
				<button
					type="button"
					class={flipped ? "choice chosen" : "choice"}
					aria-pressed={flipped}
					title="Let the graph grow upwards (b)"
					onClick={() => page.change({ flipped: !flipped })}
				>
					Grow upwards
				</button>
			) : null}
		</>
	);
}

const byChoices = [
	["function", "Functions"],
	["line", "Lines"],
] as const;
const unitChoices = [
	["time", "Time"],
	["samples", "Samples"],
] as const;

export function ViewOptions({ page }: { page: Page }): JSX.Element {
	const { by, unit, view } = page.state;
	const merged = view !== "source" && view !== "statistics" && view !== "here" && view !== "diff";
	return (
		<div class="options" role="group" aria-label="How it is shown">
			<Directions page={page} />
			{merged ? (
				<Switch
					label="Merge by"
					choices={byChoices}
					value={by}
					onChoose={(by) => page.change({ by, zoom: null })}
				/>
			) : null}
			{page.profile.meta.counted || view === "diff" || view === "statistics" ? null : (
				<Switch label="Unit" choices={unitChoices} value={unit} onChoose={(unit) => page.change({ unit })} />
			)}
		</div>
	);
}
