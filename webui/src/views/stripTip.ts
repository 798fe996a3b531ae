// SPDX-License-Identifier: Apache-2.0
/* What is said of a point of the timeline: of a thread its stack then, of several what they did on average. */

import { instant } from "../canvas/axis";
import { stateLabels, stateOrder } from "../canvas/states";
import { activities } from "../data/profile";
import { cut, display } from "../model/names";
import { percent } from "../model/numbers";
import { hasState } from "../model/reasons";
import { pathOf } from "../model/tree";
import type { StripRow } from "./stripRows";
import type { Page } from "./page";
import type { TipText } from "./Tip";

export interface StripPoint {
	readonly row: StripRow;
	readonly column: number;
	readonly fromNs: number;
	readonly toNs: number;
}

const MOST_FRAMES = 12;
const NAME_LENGTH = 70;
const byRank = [...activities].sort((a, b) => a.rank - b.rank);

/** Innermost first, as one looks for what ran. */
function stackSaid({ names, shown }: Page, node: number): string {
	const tree = shown.tree();
	const path = pathOf(tree, node).reverse();
	const lines = path.slice(0, MOST_FRAMES).map((one) => display(cut(names.full(tree.fn[one]), NAME_LENGTH)));
	if (path.length > MOST_FRAMES) lines.push(`… ${path.length - MOST_FRAMES} more`);
	return lines.join("\n");
}

/** The first that is true of it, as in the timeline. */
function stateSaid(state: number): string {
	const first = byRank.find((one) => one.state === 0 || hasState(state, one.state));
	return first?.text ?? "";
}

function spanSaid({ fromNs, toNs }: StripPoint): string {
	return `${instant(fromNs, toNs - fromNs)} to ${instant(toNs, toNs - fromNs)}`;
}

function tipOfThread(page: Page, point: StripPoint, thread: number): TipText {
	const { names, shown } = page;
	const moment = shown.momentAt(thread, [point.fromNs, point.toNs]);
	const place = `${point.row.name}, ${spanSaid(point)}`;
	if (!moment) {
		const note = point.row.gaps?.[point.column] ? "Missed: it was not sampled here." : "Nothing of it counts here.";
		return { title: point.row.name, place: spanSaid(point), figures: [], source: null, note };
	}
	const fn = shown.tree().fn[moment.node];
	return {
		title: display(cut(names.full(fn), NAME_LENGTH)),
		place,
		figures: [[stateSaid(moment.state), `${percent(moment.samples / moment.all)} of it`]],
		source: stackSaid(page, moment.node),
		note: "Click to select the function.",
	};
}

function tipOfMany({ shares }: StripRow, point: StripPoint): TipText {
	const kinds = stateOrder.length;
	const figures = stateOrder
		.map((state) => [stateLabels[state], shares[point.column * kinds + state]] as const)
		.filter(([, share]) => share > 0)
		.map(([label, share]) => [label, percent(share)] as const);
	return { title: point.row.name, place: spanSaid(point), figures, source: null, note: null };
}

export function stripTip(page: Page, point: StripPoint): TipText {
	const { thread } = point.row;
	return thread === null ? tipOfMany(point.row, point) : tipOfThread(page, point, thread);
}
