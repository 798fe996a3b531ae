// SPDX-License-Identifier: Apache-2.0
/* Draws the boxes of a flame graph. All lengths are brought to whole device pixels, so that neighbours neither
 * overlap nor leave seams, and boxes of one colour are drawn after each other, because changing the colour costs
 * more than a box. */

import type { Boxes } from "./boxes";
import type { Paint, Theme } from "./colours";
import { patternOf } from "./colours";
import type { Labels } from "./labels";
import { labelsFor } from "./labels";
import type { Rows } from "./rows";
import { ROW_HEIGHT, topOfRow } from "./rows";
import { stateOrder } from "./states";
import type { FlameTree, View } from "./tree";

/** What of a node is its own time, and what its threads did then: a column for each state, in the order of
 * `stripKinds`. */
export interface OwnTime {
	self: Float64Array;
	states: readonly Float64Array[];
	fills: readonly string[];
}

export interface Look {
	theme: Theme;
	paints: readonly Paint[];
	/** Index of the paint of a node. */
	paint(node: number): number;
	label(node: number): string;
	/** For boxes in which the label has no room. */
	shortLabel(node: number): string;
	own: OwnTime | null;
	/** Nodes that match the search before each node (one more than nodes), or null without a search. */
	matches: Uint32Array | null;
}

export interface Scene {
	tree: FlameTree;
	view: View;
	rows: Rows;
	boxes: Boxes;
	look: Look;
}

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
export const FONT_SIZE = 12;
export const PADDING = 4;
/** Narrower boxes (CSS pixels) have no room for a word. */
export const LABELLED = 22;
export const PATTERNED = 5;
const GAP_FROM = 3;
export const OWN_HEIGHT = 3;

/** Where a box is drawn, in device pixels. */
interface Place {
	x: number;
	y: number;
	width: number;
	height: number;
}

function placeOf(scene: Scene, box: number, scale: number): Place {
	const { boxes, rows, view } = scene;
	const left = Math.max(0, boxes.x[box]);
	const right = Math.min(view.width, boxes.x[box] + boxes.width[box]);
	const x = Math.round(left * scale);
	const y = Math.round(topOfRow(rows, boxes.row[box]) * scale);
	const gap = boxes.width[box] >= GAP_FROM ? 1 : 0;
	return {
		x,
		y,
		width: Math.max(1, Math.round(right * scale) - x - gap),
		height: Math.round(ROW_HEIGHT * scale) - 1,
	};
}

/** Is the box, or for a strip anything in it, one of those that count? `before`: how many are before each node. */
function isCounted(scene: Scene, box: number, before: Uint32Array): boolean {
	const first = scene.boxes.node[box];
	const behind = scene.boxes.frames[box] > 0 ? scene.tree.end[scene.boxes.last[box]] : first + 1;
	return before[behind] > before[first];
}

/** Does it match the search? Without a search everything does. */
export function isMatch(scene: Scene, box: number): boolean {
	const { matches } = scene.look;
	return !matches || isCounted(scene, box, matches);
}

/** Boxes with equal styles have equal numbers: twice the paint, one more if faded; strips come after all paints. */
function stylesOf(scene: Scene): Uint16Array {
	const { boxes, look } = scene;
	const styles = new Uint16Array(boxes.count);
	for (let box = 0; box < boxes.count; box++) {
		const paint = boxes.frames[box] > 0 ? look.paints.length : look.paint(boxes.node[box]);
		styles[box] = paint * 2 + (isMatch(scene, box) ? 0 : 1);
	}
	return styles;
}

function fillOf(look: Look, style: number): string {
	const paint = look.paints[style >> 1];
	const faded = (style & 1) === 1;
	if (!paint) return faded ? look.theme.line : look.theme.strip;
	return faded ? paint.faded : paint.fill;
}

function fillBoxes(context: CanvasRenderingContext2D, scene: Scene, styles: Uint16Array, scale: number): void {
	for (let style = 0; style <= scene.look.paints.length * 2 + 1; style++) {
		context.fillStyle = fillOf(scene.look, style);
		for (let box = 0; box < styles.length; box++) {
			if (styles[box] !== style) continue;
			const { x, y, width, height } = placeOf(scene, box, scale);
			context.fillRect(x, y, width, height);
		}
	}
}

function patternBoxes(context: CanvasRenderingContext2D, scene: Scene, styles: Uint16Array, scale: number): void {
	scene.look.paints.forEach((paint, number) => {
		const pattern = patternOf(context, paint.pattern, scale);
		if (!pattern) return;
		context.fillStyle = pattern;
		for (let box = 0; box < styles.length; box++) {
			if (styles[box] !== number * 2 || scene.boxes.width[box] < PATTERNED) continue;
			const { x, y, width, height } = placeOf(scene, box, scale);
			context.fillRect(x, y, width, height);
		}
	});
}

/** A part of the lower edge of a box, in CSS pixels. */
export interface Bar {
	from: number;
	to: number;
	colour: string;
}

/** Own time is a bar along the lower edge, at the right end where no callee is, in the colours of what threads did. */
export function barsOf(scene: Scene, box: number): Bar[] {
	const { boxes, view, look: { own } } = scene;
	if (!own || boxes.frames[box] > 0 || boxes.width[box] < GAP_FROM || !isMatch(scene, box)) return [];
	const node = boxes.node[box];
	const unit = view.width / (view.to - view.from);
	const right = boxes.x[box] + boxes.width[box];
	if (own.self[node] * unit < 1) return [];
	let at = right - own.self[node] * unit;
	return stateOrder
		.map((state) => {
			const from = at;
			at += own.states[state][node] * unit;
			return { from: Math.max(0, from), to: Math.min(view.width, at), colour: own.fills[state] };
		})
		.filter(({ from, to }) => to > from);
}

function drawOwnTime(context: CanvasRenderingContext2D, scene: Scene, scale: number): void {
	const thick = Math.round(OWN_HEIGHT * scale);
	for (let box = 0; box < scene.boxes.count; box++) {
		for (const { from, to, colour } of barsOf(scene, box)) {
			const { x, y, width, height } = placeOf(scene, box, scale);
			const left = Math.max(x, Math.round(from * scale));
			const right = Math.min(x + width, Math.round(to * scale));
			context.fillStyle = colour;
			context.fillRect(left, y + height - thick, Math.max(0, right - left), thick);
		}
	}
}

/** The whole label, or what fits of the short one. */
export function fittingLabel(look: Look, fit: Labels["fit"], node: number, width: number): string {
	const label = look.label(node);
	return fit(label, width) === label ? label : fit(look.shortLabel(node), width);
}

function drawLabels(
	context: CanvasRenderingContext2D, scene: Scene, styles: Uint16Array, labels: Labels, scale: number,
): void {
	const { boxes, look } = scene;
	context.textBaseline = "middle";
	for (let box = 0; box < boxes.count; box++) {
		const paint = look.paints[styles[box] >> 1];
		if (!paint || boxes.width[box] < LABELLED) continue;
		const { x, y, width, height } = placeOf(scene, box, scale);
		const text = fittingLabel(look, labels.fit, boxes.node[box], width - 2 * PADDING * scale);
		if (text === "") continue;
		context.fillStyle = (styles[box] & 1) === 1 ? paint.fadedInk : paint.ink;
		context.fillText(text, x + PADDING * scale, y + (height - OWN_HEIGHT * scale / 2) / 2);
	}
}

/** A name that is written from right to left still begins where its box does. */
function prepareText(context: CanvasRenderingContext2D, scale: number): Labels {
	context.font = `${FONT_SIZE * scale}px ${FONT}`;
	context.direction = "ltr";
	context.textAlign = "left";
	return labelsFor(context);
}

export function drawFlame(context: CanvasRenderingContext2D, scene: Scene, scale: number): void {
	const { width, height } = context.canvas;
	context.fillStyle = scene.look.theme.background;
	context.fillRect(0, 0, width, height);
	const styles = stylesOf(scene);
	fillBoxes(context, scene, styles, scale);
	patternBoxes(context, scene, styles, scale);
	drawOwnTime(context, scene, scale);
	drawLabels(context, scene, styles, prepareText(context, scale), scale);
}

function outline(context: CanvasRenderingContext2D, place: Place, colour: string, thick: number): void {
	context.strokeStyle = colour;
	context.lineWidth = thick;
	const half = thick / 2;
	context.strokeRect(place.x + half, place.y + half, Math.max(1, place.width - thick), place.height - thick);
}

export interface Marks {
	/** Boxes, or -1. */
	hovered: number;
	selected: number;
	/** The selected box has the keyboard's focus. */
	focused: boolean;
	/** How many nodes of the selected function are before each node, or null. */
	alike: Uint32Array | null;
}

/** In CSS pixels: what is narrower has no room for a ring. */
const RINGED = 5;

/** All boxes of the selected function, wherever it was called; of a strip its lower edge. */
function markAlike(context: CanvasRenderingContext2D, scene: Scene, alike: Uint32Array, scale: number): void {
	const { boxes, look } = scene;
	const thick = Math.round(2 * scale);
	context.fillStyle = look.theme.ring;
	for (let box = 0; box < boxes.count; box++) {
		if (!isCounted(scene, box, alike)) continue;
		const place = placeOf(scene, box, scale);
		const { x, y, width, height } = place;
		if (boxes.frames[box] > 0) context.fillRect(x, y + height - thick, width, thick);
		else if (boxes.width[box] < RINGED) context.fillRect(x, y, width, height);
		else outline(context, place, look.theme.ring, thick);
	}
}

/** Drawn into a layer of its own above the boxes, so that moving the pointer does not draw all of them again. */
export function drawMarks(context: CanvasRenderingContext2D, scene: Scene, marks: Marks, scale: number): void {
	context.clearRect(0, 0, context.canvas.width, context.canvas.height);
	const { theme } = scene.look;
	if (marks.alike) markAlike(context, scene, marks.alike, scale);
	if (marks.hovered >= 0) outline(context, placeOf(scene, marks.hovered, scale), theme.hover, Math.round(scale));
	if (marks.selected < 0) return;
	const place = placeOf(scene, marks.selected, scale);
	/* A line of the ground inside of the ring sets it off from boxes of its colour. */
	if (marks.focused) outline(context, place, theme.background, Math.round(4 * scale));
	outline(context, place, theme.ring, Math.round(3 * scale));
}
