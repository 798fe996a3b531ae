// SPDX-License-Identifier: Apache-2.0
/* What is seen, as a file: SVG text or a PNG. Both stand alone. Names come from the profiled program and are
 * escaped. */

import { findBoxes, noBoxes } from "./boxes";
import { themeOf, type Paint } from "./colours";
import {
	FONT, FONT_SIZE, LABELLED, OWN_HEIGHT, PADDING, PATTERNED, barsOf, drawFlame, fittingLabel, isMatch, type Scene,
} from "./flame";
import { labelsFor, type Labels } from "./labels";
import { ROW_HEIGHT, topOfRow } from "./rows";

/** Deeper rows are left out: nobody looks at a picture of more, and browsers have a limit. */
const MOST_ROWS = 500;

/** Somebody who can say what is to be drawn now: scenes, one below the other. */
export type SceneSource = () => readonly Scene[];

/** Between two scenes. */
const GAP = 12;
/** Above the first one: what it is a picture of. */
const CAPTION_HEIGHT = 22;
const CAPTION_BASE = 15;

/** The whole height of what is seen through a window. */
export function wholeScene(scene: Scene): Scene {
	const view = { ...scene.view, firstRow: 0, lastRow: Math.min(scene.rows.count, MOST_ROWS) - 1 };
	const boxes = noBoxes();
	findBoxes(scene.tree, view, boxes);
	const count = boxes.row.subarray(0, boxes.count).reduce((most, row) => Math.max(most, row + 1), 0);
	return { ...scene, view, boxes, rows: { ...scene.rows, count, height: count * ROW_HEIGHT, scroll: 0 } };
}

const ESCAPES: Record<string, string> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;", "'": "&#39;" };
/* What XML 1.0 has no place for, not even escaped. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

export function escapeXml(text: string): string {
	return text.replace(FORBIDDEN, "\ufffd").replace(/[<>&"']/g, (letter) => ESCAPES[letter] ?? letter);
}

interface Style {
	fill: string;
	ink: string;
	pattern: Paint["pattern"];
}

function styleOf(scene: Scene, box: number): Style {
	const { look } = scene;
	const match = isMatch(scene, box);
	const paint = scene.boxes.frames[box] > 0 ? undefined : look.paints[look.paint(scene.boxes.node[box])];
	if (!paint) return { fill: match ? look.theme.strip : look.theme.line, ink: look.theme.ink, pattern: "none" };
	return match ? paint : { fill: paint.faded, ink: paint.fadedInk, pattern: "none" };
}

/* What the patterns of colours.ts look like here. */
const PATTERNS = `<defs>
<pattern id="stripes" width="6" height="6" patternUnits="userSpaceOnUse">
<path d="M-6 6L0 0M0 6L6 0M6 6L12 0" stroke="#101418" stroke-opacity=".22" stroke-width="1.2"/>
</pattern>
<pattern id="dots" width="6" height="6" patternUnits="userSpaceOnUse">
<circle cx="3" cy="3" r="1.2" fill="#101418" fill-opacity=".22"/>
</pattern>
</defs>`;

function fitFunction(): Labels["fit"] {
	const context = document.createElement("canvas").getContext("2d");
	if (!context) return () => "";
	context.font = `${FONT_SIZE}px ${FONT}`;
	return labelsFor(context).fit;
}

function rectOf(x: number, y: number, width: number, height: number, fill: string): string {
	return `<rect x="${x.toFixed(2)}" y="${y}" width="${width.toFixed(2)}" height="${height}" fill="${fill}"/>`;
}

function svgOfBox(scene: Scene, box: number, fit: Labels["fit"]): string {
	const { boxes, view } = scene;
	const left = Math.max(0, boxes.x[box]);
	const width = Math.min(view.width, boxes.x[box] + boxes.width[box]) - left;
	const y = topOfRow(scene.rows, boxes.row[box]);
	const { fill, ink, pattern } = styleOf(scene, box);
	const frames = boxes.frames[box];
	const name = frames > 0 ? `${frames} frames too narrow to draw` : scene.look.label(boxes.node[box]);
	const text = frames > 0 || width < LABELLED
		? ""
		: fittingLabel(scene.look, fit, boxes.node[box], width - 2 * PADDING);
	const parts = [
		`<title>${escapeXml(name.slice(0, 300))}</title>`,
		rectOf(left, y, Math.max(0.5, width), ROW_HEIGHT - 1, fill),
		...barsOf(scene, box).map(({ from, to, colour }) =>
			rectOf(from, y + ROW_HEIGHT - 1 - OWN_HEIGHT, to - from, OWN_HEIGHT, colour)),
	];
	if (pattern !== "none" && width >= PATTERNED) {
		parts.push(rectOf(left, y, width, ROW_HEIGHT - 1, `url(#${pattern})`));
	}
	if (text !== "") {
		parts.push(`<text x="${(left + PADDING).toFixed(2)}" y="${y + 13}" fill="${ink}">${escapeXml(text)}</text>`);
	}
	return `<g>${parts.join("")}</g>`;
}

function svgOfScene(scene: Scene, y: number, fit: Labels["fit"]): string {
	const boxes: string[] = [];
	for (let box = 0; box < scene.boxes.count; box++) boxes.push(svgOfBox(scene, box, fit));
	return `<g transform="translate(0 ${y})">\n${boxes.join("\n")}\n</g>`;
}

interface Stack {
	scenes: readonly { scene: Scene; y: number }[];
	width: number;
	height: number;
}

function stacked(seen: readonly Scene[]): Stack {
	let y = CAPTION_HEIGHT;
	const scenes = seen.map((one) => {
		const scene = wholeScene(one);
		const placed = { scene, y };
		y += scene.rows.height + GAP;
		return placed;
	});
	return { scenes, width: Math.max(1, ...scenes.map(({ scene }) => scene.view.width)), height: Math.max(1, y - GAP) };
}

export function svgOf(seen: readonly Scene[], caption: string): string {
	const { scenes, width, height } = stacked(seen);
	const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
	const font = `font-family="${escapeXml(FONT)}" font-size="${FONT_SIZE}"`;
	const { background, ink } = scenes[0]?.scene.look.theme ?? themeOf(false);
	const fit = fitFunction();
	const said = escapeXml(fit(caption, width - 2 * PADDING));
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font}>`,
		`<title>${escapeXml(caption)}</title>`,
		PATTERNS,
		`<rect width="${width}" height="${height}" fill="${background}"/>`,
		`<text x="${PADDING}" y="${CAPTION_BASE}" fill="${ink}">${said}</text>`,
		...scenes.map(({ scene, y }) => svgOfScene(scene, y, fit)),
		"</svg>\n",
	].join("\n");
}

/** Twice as many pixels as the screen's CSS pixels. */
const PNG_SCALE = 2;

function canvasOf(width: number, height: number): { canvas: HTMLCanvasElement; context: CanvasRenderingContext2D } {
	const canvas = document.createElement("canvas");
	canvas.width = Math.round(width * PNG_SCALE);
	canvas.height = Math.round(height * PNG_SCALE);
	const context = canvas.getContext("2d");
	if (!context) throw new Error("the browser gives no canvas");
	return { canvas, context };
}

function drawStack(seen: readonly Scene[], caption: string): HTMLCanvasElement {
	const { scenes, width, height } = stacked(seen);
	const { canvas, context } = canvasOf(width, height);
	const { background, ink } = scenes[0]?.scene.look.theme ?? themeOf(false);
	context.fillStyle = background;
	context.fillRect(0, 0, canvas.width, canvas.height);
	context.fillStyle = ink;
	context.font = `${FONT_SIZE * PNG_SCALE}px ${FONT}`;
	const said = labelsFor(context).fit(caption, (width - 2 * PADDING) * PNG_SCALE);
	context.fillText(said, PADDING * PNG_SCALE, CAPTION_BASE * PNG_SCALE);
	for (const { scene, y } of scenes) {
		const one = canvasOf(scene.view.width, Math.max(1, scene.rows.height));
		drawFlame(one.context, scene, PNG_SCALE);
		context.drawImage(one.canvas, 0, Math.round(y * PNG_SCALE));
	}
	return canvas;
}

export async function pngOf(seen: readonly Scene[], caption: string): Promise<Blob> {
	const canvas = drawStack(seen, caption);
	return new Promise((resolve, reject) => {
		canvas.toBlob((blob) => {
			if (blob) resolve(blob);
			else reject(new Error("the browser could not make a PNG"));
		}, "image/png");
	});
}
