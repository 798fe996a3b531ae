// SPDX-License-Identifier: Apache-2.0
/* A call tree of the comparison as a flame graph. Only what the comparison calls a change has a colour, and a sign
 * before its name; all that may be chance is grey, however large. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { PALE_PAINT, paintOfChange, paintsOfChange, themeOf } from "../canvas/colours";
import type { Look } from "../canvas/flame";
import type { Point } from "../canvas/pointer";
import { flameTreeOf } from "../canvas/tree";
import type { DiffFigure, DiffReport, DiffRow } from "../data/profile";
import { diffTree, type DiffTree } from "../model/diff";
import { diffMatches } from "./diffMatches";
import { sentenceOfChange, tipOfChange } from "./diffText";
import { boxLabel } from "./flameText";
import { functionOfRow } from "./functionsByName";
import { FlameCanvas, type PictureSlot } from "./FlameCanvas";
import type { Page } from "./page";
import { useChosen } from "./useChosen";

interface Props {
	page: Page;
	report: DiffReport;
	weights: Float64Array;
	/** Callers that have a share after are only there to hold what is gone. */
	gone: boolean;
	label: string;
	picture: PictureSlot;
}

function isMore(figure: DiffFigure): boolean {
	return figure.verdict === "new" || figure.verdict === "more";
}

function largestChange(report: DiffReport, figure: "self" | "total"): number {
	return report.list.reduce(
		(most, row) => (row[figure].verdict === "same" ? most : Math.max(most, Math.abs(row[figure].change))), 0,
	);
}

function signOf(figure: DiffFigure): string {
	if (figure.verdict === "same") return "";
	return isMore(figure) ? "+ " : "− ";
}

function lookOfChange(page: Page, report: DiffReport, tree: DiffTree, gone: boolean): Look {
	const { diffFigure, search, regex } = page.state;
	const largest = largestChange(report, diffFigure) || 1;
	const rowOf = (node: number): DiffRow => report.list[tree.row[node]];
	const figureOf = (node: number): DiffFigure => rowOf(node)[diffFigure];
	const holds = (node: number): boolean => gone && rowOf(node).total.after > 0;
	const signed = (node: number, name: string): string =>
		(holds(node) ? "" : signOf(figureOf(node))) + boxLabel(name);
	return {
		theme: themeOf(page.dark),
		paints: paintsOfChange(page.dark),
		paint(node) {
			const figure = figureOf(node);
			if (holds(node)) return PALE_PAINT;
			const direction = figure.verdict === "same" ? "same" : isMore(figure) ? "more" : "less";
			return paintOfChange(direction, Math.abs(figure.change) / largest);
		},
		label: (node) => signed(node, rowOf(node).qualname || rowOf(node).name),
		shortLabel: (node) => signed(node, rowOf(node).name),
		own: null,
		matches: diffMatches(report, tree, search, regex),
	};
}

export function DiffFlame({ page, report, weights, gone, label, picture }: Props): JSX.Element {
	const tree = useMemo(() => diffTree(report, weights), [report, weights]);
	const flame = useMemo(() => flameTreeOf(tree), [tree]);
	const { zoom, selected, choose } = useChosen(tree);
	const { diffFigure, search, regex, flipped } = page.state;
	const look = useMemo(
		() => lookOfChange(page, report, tree, gone), [report, tree, gone, diffFigure, search, regex, page.dark],
	);
	const functionOf = (node: number): number | null => functionOfRow(page.profile, report.list[tree.row[node]]);
	const select = (node: number): void => {
		choose({ selected: node });
		page.change({ selected: functionOf(node), at: null });
	};
	const openMenu = (node: number, at: Point): void => {
		const fn = functionOf(node);
		if (fn !== null) page.openMenu(fn, at.x, at.y);
	};
	return (
		<FlameCanvas
			tree={flame}
			look={look}
			flipped={flipped}
			zoom={zoom}
			selected={selected}
			label={label}
			tip={(hit) => tipOfChange(report, tree, flame, hit)}
			sentence={(node) => sentenceOfChange(report, tree, node)}
			onSelect={select}
			onZoom={(node) => choose({ zoom: node })}
			onMenu={openMenu}
			picture={picture}
		/>
	);
}
