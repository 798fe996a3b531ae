// SPDX-License-Identifier: Apache-2.0
/* What is said of a box of the comparison. */

import type { Hit } from "../canvas/panel";
import type { FlameTree } from "../canvas/tree";
import type { DiffFigure, DiffReport } from "../data/profile";
import type { DiffTree } from "../model/diff";
import { cut, display } from "../model/names";
import { count, percent, time } from "../model/numbers";
import { pointsText, qText, relativeText, signedPercent } from "./changeText";
import type { TipText } from "./Tip";

const NAME_LENGTH = 400;

function placeOf(report: DiffReport, row: number): string {
	const { file, line } = report.list[row];
	return display(cut(line > 0 ? `${file}:${line}` : file, NAME_LENGTH));
}

function nameOf(report: DiffReport, row: number): string {
	const { name, qualname } = report.list[row];
	return display(cut(qualname || name, NAME_LENGTH));
}

function verdictSaid(figure: DiffFigure): string {
	const words = {
		same: "may be chance",
		new: "new",
		gone: "gone",
		more: "takes more",
		less: "takes less",
	};
	return words[figure.verdict];
}

/** What all of it took, which no share tells; empty if that is not known. */
export function tookText({ all, per, before, after }: DiffReport): string {
	if (!all) return "";
	const [was, is] = [all.before_ns, all.after_ns].map(time);
	const runs = before.runs > 1 || after.runs > 1 ? " a run" : "";
	const half = all.relative_half_width;
	const by = all.relative === null ? "" : `, ${signedPercent(all.relative, half)}`;
	return `All threads took ${was} → ${is}${per ? ` per ${per.unit}` : runs}${by}.`;
}

function figuresOf(label: string, figure: DiffFigure): readonly (readonly [string, string])[] {
	const relative = relativeText(figure);
	return [
		[label, `${percent(figure.before)} → ${percent(figure.after)}`],
		["by", `${pointsText(figure)}${relative === "" ? "" : ` (${relative})`}`],
		["verdict", `${verdictSaid(figure)}; by chance: ${qText(figure.q)}`],
	];
}

export function tipOfChange(report: DiffReport, tree: DiffTree, flame: FlameTree, hit: Hit): TipText {
	if (hit.frames > 0) {
		const value = flame.start[hit.last] + flame.total[hit.last] - flame.start[hit.node];
		return {
			title: `${count(hit.frames)} frame${hit.frames === 1 ? "" : "s"} too narrow to draw`,
			place: "",
			figures: [["together", percent(value)]],
			source: null,
			note: "Click to come nearer.",
		};
	}
	const row = tree.row[hit.node];
	const { self, total } = report.list[row];
	return {
		title: nameOf(report, row),
		place: placeOf(report, row),
		figures: [...figuresOf("total", total), ...figuresOf("self", self)],
		source: null,
		note: `${count(total.before_samples)} samples before, ${count(total.after_samples)} after`,
	};
}

export function sentenceOfChange(report: DiffReport, tree: DiffTree, node: number): string {
	const row = tree.row[node];
	const { total } = report.list[row];
	return [
		nameOf(report, row),
		placeOf(report, row),
		`from ${percent(total.before)} to ${percent(total.after)}`,
		`${pointsText(total)} points, ${verdictSaid(total)}`,
		`level ${tree.depth[node] + 1}`,
	].filter((part) => part !== "").join(", ");
}
