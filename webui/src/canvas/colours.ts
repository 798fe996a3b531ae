// SPDX-License-Identifier: Apache-2.0
/* What things look like. Kinds have the fills of the profile; everything else follows from them and from light or
 * dark. */

/** How one kind of box is painted. A pattern tells apart without colour what did not run. */
export interface Paint {
	fill: string;
	ink: string;
	faded: string;
	fadedInk: string;
	pattern: "none" | "stripes" | "dots";
}

export interface Theme {
	background: string;
	ink: string;
	faint: string;
	line: string;
	strip: string;
	ring: string;
	hover: string;
}

/* The grounds and inks of style.css, which a canvas cannot see. */
const LIGHT: Theme = {
	background: "#ffffff",
	ink: "#1b2026",
	faint: "#57626f",
	line: "#d8dde4",
	strip: "#8c8c8c",
	ring: "#0a58a6",
	hover: "#1b2026",
};

const DARK: Theme = {
	background: "#14171b",
	ink: "#e5e9ee",
	faint: "#a3adb9",
	line: "#303741",
	strip: "#7a7f86",
	ring: "#82bbf8",
	hover: "#ffffff",
};

export function themeOf(dark: boolean): Theme {
	return dark ? DARK : LIGHT;
}

/** Of two colours as #rrggbb; share 0 is the first. */
export function mix(one: string, other: string, share: number): string {
	let text = "#";
	for (let at = 1; at < 7; at += 2) {
		const a = parseInt(one.slice(at, at + 2), 16);
		const b = parseInt(other.slice(at, at + 2), 16);
		text += Math.round(a + (b - a) * share).toString(16).padStart(2, "0");
	}
	return text;
}

const COLOUR = /^#[0-9a-f]{6}$/i;
const UNKNOWN_FILL = "#e8e8e8";

export function paintOf(fill: string, dark: boolean, pattern: Paint["pattern"] = "none"): Paint {
	const theme = themeOf(dark);
	return {
		fill,
		ink: "#000000",
		faded: mix(fill, theme.background, 0.82),
		fadedInk: theme.faint,
		pattern,
	};
}

/** What a thread mostly did in a box: it ran, it waited, it collected garbage. */
const PATTERNS = ["none", "stripes", "dots"] as const;
export const Mostly = { ran: 0, waited: 1, collected: 2 } as const;

/** Of a kind of code, wherever it is shown. A profile can come from anybody: what is no colour is grey. */
export function fillOfKind(fill: string | undefined, dark: boolean): string {
	const usual = fill !== undefined && COLOUR.test(fill) ? fill : UNKNOWN_FILL;
	return dark ? mix(usual, "#000000", 0.12) : usual;
}

/** Those of each category of the profile, in its order. */
export function paintsOfKinds(categories: readonly { fill: string }[], dark: boolean): Paint[] {
	return categories.flatMap(({ fill }) =>
		PATTERNS.map((pattern) => paintOf(fillOfKind(fill, dark), dark, pattern)),
	);
}

export function paintOfKind(category: number, mostly: number): number {
	return category * PATTERNS.length + mostly;
}

/* Blue to red as in the SVG of a comparison; people who do not tell red from green tell these. */
const MORE = ["#fbd9cc", "#f5b5a0", "#ee9077", "#e56b50", "#d9472f"];
const LESS = ["#d3e4f3", "#acccec", "#84b3e3", "#5c9ad9", "#3a80cc"];
const SAME = "#d4d4d4";
const PALE = "#efefef";
/* On a dark ground what did not change is dark, and the stronger a change the lighter it is. */
const DARK_MORE = "#f08468";
const DARK_LESS = "#6fb0f2";
const DARK_SAME = "#3d444d";
const DARK_PALE = "#2a3038";

const STEPS = MORE.length;
/** Of frames that are only there to hold others. */
export const PALE_PAINT = 2 * STEPS + 1;

/** As WCAG has it, of a colour as #rrggbb. */
function luminance(colour: string): number {
	const linear = (at: number): number => {
		const c = parseInt(colour.slice(at, at + 2), 16) / 255;
		return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
	};
	return 0.2126 * linear(1) + 0.7152 * linear(3) + 0.0722 * linear(5);
}

/** Black or white, whichever is read better: the contrast is 4.5 at least. */
function inkOn(fill: string): string {
	return luminance(fill) > 0.179 ? "#000000" : "#ffffff";
}

/** 0: no change; then more, weak to strong; then as many for less; then PALE_PAINT. */
export function paintsOfChange(dark: boolean): Paint[] {
	if (!dark) return [SAME, ...MORE, ...LESS, PALE].map((fill) => paintOf(fill, dark));
	const towards = (most: string): string[] => MORE.map((_, i) => mix(DARK_SAME, most, (i + 1) / STEPS));
	const fills = [DARK_SAME, ...towards(DARK_MORE), ...towards(DARK_LESS), DARK_PALE];
	return fills.map((fill) => ({ ...paintOf(fill, dark), ink: inkOn(fill) }));
}

export function paintOfChange(direction: "same" | "more" | "less", strength: number): number {
	const step = Math.min(STEPS, Math.max(1, Math.ceil(strength * STEPS)));
	return direction === "same" ? 0 : direction === "more" ? step : STEPS + step;
}

const PATTERN_SIZE = 6;

function drawPattern(context: CanvasRenderingContext2D, kind: Paint["pattern"], size: number): void {
	context.fillStyle = context.strokeStyle = "rgba(16, 20, 24, 0.22)";
	if (kind === "dots") {
		context.beginPath();
		context.arc(size / 2, size / 2, size / 5, 0, 2 * Math.PI);
		context.fill();
		return;
	}
	context.lineWidth = size / 5;
	context.beginPath();
	for (const shift of [-size, 0, size]) {
		context.moveTo(shift, size);
		context.lineTo(shift + size, 0);
	}
	context.stroke();
}

const tiles = new Map<string, CanvasPattern | null>();

/** To be laid over a fill. */
export function patternOf(
	target: CanvasRenderingContext2D, kind: Paint["pattern"], scale: number,
): CanvasPattern | null {
	const key = `${kind} ${scale}`;
	let pattern = tiles.get(key);
	if (pattern === undefined) {
		pattern = kind === "none" ? null : makePattern(target, kind, scale);
		tiles.set(key, pattern);
	}
	return pattern;
}

function makePattern(
	target: CanvasRenderingContext2D, kind: Paint["pattern"], scale: number,
): CanvasPattern | null {
	const tile = document.createElement("canvas");
	const size = Math.round(PATTERN_SIZE * scale);
	tile.width = tile.height = size;
	const context = tile.getContext("2d");
	if (!context) return null;
	drawPattern(context, kind, size);
	return target.createPattern(tile, "repeat");
}
