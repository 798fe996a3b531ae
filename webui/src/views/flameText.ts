// SPDX-License-Identifier: Apache-2.0
/* What is said of a box of a flame graph: in its tooltip, and to who does not see it. */

import type { Hit } from "../canvas/panel";
import { stateLabels, stateOrder } from "../canvas/states";
import type { FlameTree } from "../canvas/tree";
import type { Profile } from "../data/profile";
import type { FunctionRows } from "../model/functions";
import { isInlinedAt } from "../model/inlined";
import { cut, display, type Names } from "../model/names";
import { count, percent, sharePm } from "../model/numbers";
import type { Tree } from "../model/tree";
import { linesOf } from "./HotLines";
import type { Page } from "./page";
import type { TipText } from "./Tip";
import { valueText } from "./units";

const NAME_LENGTH = 400;
const LABEL_LENGTH = 300;
const SOURCE_LENGTH = 160;

/** The page, and what is known of lines. */
export interface FlamePage extends Page {
	readonly lines: FunctionRows | null;
}

export interface FlameText {
	tip(hit: Hit): TipText;
	sentence(node: number): string;
	label(node: number): string;
	shortLabel(node: number): string;
}

/** A name or a path as it can be shown. */
function said(text: string): string {
	return display(cut(text, NAME_LENGTH));
}

/** A line of a file as it was when it was sampled, or null. */
export function sourceLine(profile: Profile, file: number, line: number): string | null {
	for (const range of profile.sources.get(file)?.ranges ?? []) {
		const text = range.lines[line - range.firstLine];
		if (text !== undefined) return display(text.trim().slice(0, SOURCE_LENGTH));
	}
	return null;
}

const MOST_OPCODES = 3;

/** The instructions of a line, where they were recorded. */
function opcodesSaid({ shown, profile }: Page, tree: Tree, node: number): readonly (readonly [string, string])[] {
	const line = tree.line[node];
	const fn = tree.fn[node];
	if (line === 0 || fn >= profile.functions.count || Object.keys(profile.meta.opcodes).length === 0) return [];
	const file = shown.sourceLines(profile.functions.file[fn]);
	const row = file.lines.indexOf(line);
	const opcodes = row < 0 ? [] : file.opcodes(row).slice(0, MOST_OPCODES);
	return opcodes.map(({ name, samples }) => [display(cut(name, 60)), `${count(samples)} samples`]);
}

function ofParent(tree: Tree, node: number, ownTime: boolean): readonly (readonly [string, string])[] {
	const parent = tree.parent[node];
	if (parent < 0) return [];
	return [[ownTime ? "of its caller" : "of what it called", percent(tree.total[node] / tree.total[parent])]];
}

function tipOfStrip(page: Page, flame: FlameTree, hit: Hit): TipText {
	const value = flame.start[hit.last] + flame.total[hit.last] - flame.start[hit.node];
	return {
		title: `${count(hit.frames)} frame${hit.frames === 1 ? "" : "s"} too narrow to draw`,
		place: "",
		figures: [["together", `${valueText(page, value)}, ${percent(value / page.shown.whole)}`]],
		source: null,
		note: "Click to come nearer.",
	};
}

/** The line of a box, with its text; of a whole function its hottest one, once that is known. */
function lineSaid({ profile, lines }: FlamePage, fn: number, line: number): string | null {
	if (fn >= profile.functions.count || (line === 0 && !lines)) return null;
	const [hottest] = line > 0 || !lines ? [] : linesOf(fn, lines).map((row) => lines.line[row]);
	const at = hottest ?? (line || profile.functions.line[fn]);
	const text = sourceLine(profile, profile.functions.file[fn], at);
	return text === null ? null : `${at}: ${text}`;
}

function tipOfNode(page: FlamePage, tree: Tree, node: number, ownTime: boolean): TipText {
	const { shown, names } = page;
	const fn = tree.fn[node];
	const line = tree.line[node];
	const { self, total } = shown.figures(tree, node);
	const states = shown.leafStates(tree);
	const figures: (readonly [string, string])[] = [
		["total", `${valueText(page, total.value)}, ${sharePm(total.share, total.halfWidth)}`],
		...ofParent(tree, node, ownTime),
		["samples", ownTime ? `${count(total.samples)}, self ${count(self.samples)}` : count(total.samples)],
	];
	if (ownTime) {
		figures.splice(1, 0, ["self", `${valueText(page, self.value)}, ${sharePm(self.share, self.halfWidth)}`]);
	}
	for (const state of stateOrder) {
		const value = states[state][node];
		if (value > 0) figures.push([`${stateLabels[state]}, self`, valueText(page, value)]);
	}
	figures.push(...opcodesSaid(page, tree, node));
	return {
		title: `${said(names.full(fn))}${isInlinedAt(page.profile, tree, node) ? " (inlined)" : ""}`,
		place: said(names.place(fn, line)),
		figures,
		source: lineSaid(page, fn, line),
		note: tree.cut?.[node] ? "What lies behind it is not shown." : null,
	};
}

function belowSaid(names: Names, tree: Tree, node: number, word: string): string {
	let number = 0;
	let heaviest = -1;
	for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
		if (tree.total[child] <= 0) continue;
		number++;
		if (heaviest < 0 || tree.total[child] > tree.total[heaviest]) heaviest = child;
	}
	if (number === 0) return `no ${word}s`;
	const name = said(names.short(tree.fn[heaviest]));
	return number === 1 ? `one ${word}, ${name}` : `${count(number)} ${word}s, most in ${name}`;
}

function sentenceOf(page: Page, tree: Tree, node: number, ownTime: boolean): string {
	const { names, profile, shown: { whole } } = page;
	const parent = tree.parent[node];
	const parts = [
		said(names.short(tree.fn[node])),
		isInlinedAt(profile, tree, node) ? "inlined" : "",
		said(names.place(tree.fn[node], tree.line[node])),
		`${percent(tree.total[node] / whole)} of all, ${valueText(page, tree.total[node])}`,
		ownTime ? `itself ${percent(tree.self[node] / whole)}` : "",
		`level ${tree.depth[node] + 1}`,
		parent < 0 ? "" : `${ownTime ? "called by" : "caller of"} ${said(names.short(tree.fn[parent]))}`,
		belowSaid(names, tree, node, ownTime ? "callee" : "caller"),
	];
	return parts.filter((part) => part !== "").join(", ");
}

/** What stands in a box, of which what fits is drawn. */
export function boxLabel(name: string): string {
	return display(cut(name, LABEL_LENGTH));
}

function withLine(tree: Tree, node: number, name: string): string {
	const shown = boxLabel(name);
	return tree.line[node] > 0 ? `${shown}:${tree.line[node]}` : shown;
}

export function flameText(page: FlamePage, tree: Tree, flame: FlameTree, ownTime: boolean): FlameText {
	/* The pointer moves often within one box, and an interval takes a look at all samples. */
	let last: { node: number; text: TipText } | null = null;
	return {
		tip(hit) {
			if (hit.frames > 0) return tipOfStrip(page, flame, hit);
			if (last?.node !== hit.node) last = { node: hit.node, text: tipOfNode(page, tree, hit.node, ownTime) };
			return last.text;
		},
		sentence: (node) => sentenceOf(page, tree, node, ownTime),
		label: (node) => withLine(tree, node, page.names.full(tree.fn[node])),
		shortLabel: (node) => withLine(tree, node, page.names.short(tree.fn[node])),
	};
}
