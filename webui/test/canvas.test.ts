// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { instant, ticksOf } from "../src/canvas/axis";
import { dragged, endMoved, holdAt, moved, orNone, snapped, type Axis } from "../src/canvas/brush";
import { fillOfKind, mix, paintOfChange, paintsOfChange, paintsOfKinds, type Paint } from "../src/canvas/colours";
import { actionOf } from "../src/canvas/keys";
import { labelsFor } from "../src/canvas/labels";
import { escapeXml } from "../src/canvas/picture";
import { shifted, within, zoomed } from "../src/canvas/range";
import { rowAt, rowsSeen, scrollTo, topOfRow, type Rows } from "../src/canvas/rows";
import { fillsOfStates } from "../src/canvas/states";
import { caller, heaviestCallee, heaviestRoot, nextInRow, previousInRow } from "../src/canvas/steps";
import { flameTreeOf } from "../src/canvas/tree";

const second = 1e9;

test("marks of an axis are round and not too many", () => {
	assert.deepEqual(ticksOf(0, 10 * second, 5).at, [0, 2, 4, 6, 8, 10].map((s) => s * second));
	for (const length of [1e-6, 0.013, 0.7, 3, 59, 61, 400, 7200, 86400, 172800, 1e7]) {
		for (const most of [1, 4, 12]) {
			const { at, step } = ticksOf(0, length * second, most);
			assert.ok(at.length <= most + 1, `${length} s in ${most}: ${at.length}`);
			assert.ok(at.length * step > length * second * 0.999);
		}
	}
});

test("instants are as exact as the steps of the axis", () => {
	assert.equal(instant(2 * second, 0.5 * second), "2.0 s");
	assert.equal(instant(0.25 * second, 0.05 * second), "0.25 s");
	assert.equal(instant(20 * second, 5 * second), "20 s");
	assert.equal(instant(125 * second, 60 * second), "2:05");
	assert.equal(instant(11520 * second, 3600 * second), "3:12:00");
	assert.equal(instant(100800 * second, 3600 * second), "1d 04:00:00");
});

const axis: Axis = { duration: 100, unit: 10, width: 1000 };

test("a range of time is chosen by dragging, in whole units", () => {
	assert.deepEqual(snapped(axis, 34, 12), [10, 40]);
	assert.deepEqual(snapped(axis, 20, 20), [20, 30]);
	assert.deepEqual(dragged(axis, holdAt(axis, null, 220, 6), 410), [20, 50]);
	assert.deepEqual(dragged(axis, holdAt(axis, null, 990, 6), 5000), [90, 100]);
});

test("a press near an end moves it, inside the range all of it", () => {
	assert.deepEqual(holdAt(axis, [20, 50], 203, 6), { part: "from", other: 50 });
	assert.deepEqual(holdAt(axis, [20, 50], 497, 6), { part: "to", other: 20 });
	assert.equal(holdAt(axis, [20, 50], 300, 6).part, "all");
	assert.equal(holdAt(axis, [20, 50], 700, 6).part, "new");
	assert.deepEqual(dragged(axis, holdAt(axis, [20, 50], 300, 6), 2000), [70, 100]);
	assert.deepEqual(moved(axis, [20, 50], -1000), [0, 30]);
});

test("the ends move by keys and do not pass each other", () => {
	assert.deepEqual(endMoved(axis, [20, 50], "from", 1), [30, 50]);
	assert.deepEqual(endMoved(axis, [20, 50], "from", 100), [40, 50]);
	assert.deepEqual(endMoved(axis, [20, 50], "to", -100), [20, 30]);
	assert.deepEqual(endMoved(axis, [20, 50], "to", 1000), [20, 100]);
	assert.equal(orNone(axis, [0, 100]), null);
	assert.deepEqual(orNone(axis, [0, 90]), [0, 90]);
});

test("coming nearer keeps what is under the pointer, and the view stays within the axis", () => {
	assert.deepEqual(zoomed({ from: 0, to: 100 }, 0.5, 0.25, 100), { from: 12.5, to: 62.5 });
	assert.deepEqual(zoomed({ from: 50, to: 100 }, 10, 1, 100), { from: 0, to: 100 });
	assert.deepEqual(shifted({ from: 80, to: 90 }, 5, 100), { from: 90, to: 100 });
	assert.ok(within({ from: 5, to: 5 }, 100).to > 5);
});

test("rows from the top and from the bottom", () => {
	const icicle: Rows = { count: 100, flipped: false, height: 200, scroll: 40 };
	assert.equal(topOfRow(icicle, 2), 0);
	assert.equal(rowAt(icicle, 5), 2);
	assert.deepEqual(rowsSeen(icicle), { first: 2, last: 11 });
	assert.equal(scrollTo(icicle, 50), 820);
	const flame: Rows = { ...icicle, flipped: true, scroll: 1800 };
	assert.equal(topOfRow(flame, 0), 180);
	assert.deepEqual(rowsSeen(flame), { first: 0, last: 9 });
	assert.equal(topOfRow({ ...flame, count: 3, scroll: 0 }, 0), 180);
	for (const rows of [icicle, flame]) assert.equal(rowAt(rows, topOfRow(rows, 7) + 10), 7);
});

test("steps from box to box pass over nodes without time", () => {
	const depth = Int32Array.of(0, 1, 2, 1, 1, 2, 0);
	const parent = Int32Array.of(-1, 0, 1, 0, 0, 4, -1);
	const end = Int32Array.of(6, 3, 3, 4, 6, 6, 7);
	const total = Float64Array.of(9, 3, 3, 0, 6, 5, 1);
	const tree = flameTreeOf({ count: 7, depth, parent, end, total });
	assert.equal(heaviestRoot(tree), 0);
	assert.equal(heaviestCallee(tree, 0), 4);
	assert.equal(heaviestCallee(tree, 2), 2);
	assert.equal(caller(tree, 5), 4);
	assert.equal(caller(tree, 6), 6);
	assert.equal(nextInRow(tree, 1), 4);
	assert.equal(nextInRow(tree, 2), 5);
	assert.equal(nextInRow(tree, 0), 6);
	assert.equal(previousInRow(tree, 4), 1);
	assert.equal(previousInRow(tree, 1), 1);
});

/** Ten pixels a letter; counts how many letters were ever measured. */
function ruler(): { context: CanvasRenderingContext2D; measured: () => number } {
	let letters = 0;
	const measureText = (text: string): { width: number } => {
		letters += text.length;
		return { width: text.length * 10 };
	};
	return { context: { measureText } as unknown as CanvasRenderingContext2D, measured: () => letters };
}

test("labels are cut to their box", () => {
	const { fit } = labelsFor(ruler().context);
	assert.equal(fit("render", 60), "render");
	assert.equal(fit("render", 59), "rend…");
	assert.equal(fit("render", 19), "");
	assert.equal(fit("שלום עולם", 50), "שלום…");
});

test("a cut goes between characters, not through them", () => {
	const { fit } = labelsFor(ruler().context);
	assert.equal(fit("a🎉🎉🎉", 40), "a🎉…");
	assert.equal(fit("a🎉🎉🎉", 30), "a…");
});

test("of a name of 64 KiB only the beginning is measured", () => {
	const { context, measured } = ruler();
	const labels = labelsFor(context);
	const before = measured();
	assert.equal(labels.fit("ü".repeat(65536), 100).length, 10);
	assert.ok(measured() - before < 1000);
});

test("text in a picture is only text", () => {
	assert.equal(escapeXml(`</title><script>"&'`), "&lt;/title&gt;&lt;script&gt;&quot;&amp;&#39;");
	assert.equal(escapeXml("a\u0000b\ud800c\ufffe🎉"), "a\ufffdb\ufffdc\ufffd🎉");
});

test("colours between two, and steps of change", () => {
	assert.equal(mix("#000000", "#ffffff", 0.5), "#808080");
	const [same, ...changes] = paintsOfChange(true).slice(0, 11).map(({ fill }) => luminance(fill));
	assert.ok(changes.every((one) => one > same), "in the dark what did not change is the darkest");
	assert.equal(paintOfChange("same", 1), 0);
	assert.deepEqual([0.01, 0.2, 0.21, 1, 3].map((strength) => paintOfChange("more", strength)), [1, 1, 2, 5, 5]);
	assert.deepEqual([0.01, 1].map((strength) => paintOfChange("less", strength)), [6, 10]);
});

/** As WCAG has it. */
function luminance(colour: string): number {
	const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
	const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
	const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
	return (light + 0.05) / (dark + 0.05);
}

/** CIE L*, of 100. */
function lightness(colour: string): number {
	return 116 * Math.cbrt(luminance(colour)) - 16;
}

/** Between each colour and the next darker one. */
function stepsInGrey(colours: readonly string[]): number[] {
	const sorted = colours.map(lightness).sort((a, b) => a - b);
	return sorted.slice(1).map((one, i) => one - sorted[i]);
}

const categoriesInC = readFileSync("../src/export/categories.c", "utf8");
const fillsByCategory = new Map(
	[...categoriesInC.matchAll(/\[PL_CATEGORY_(\w+)\] = .*"(#[0-9a-f]{6})"\}/g)].map(([, name, fill]) => [name, fill]),
);
const fills = [...fillsByCategory.values()];

test("kinds of code are told apart in grey, in both themes", () => {
	const kinds = ["OTHER", "APPLICATION", "LIBRARY", "STANDARD", "NATIVE", "KERNEL"];
	for (const dark of [false, true]) {
		const steps = stepsInGrey(kinds.map((kind) => fillOfKind(fillsByCategory.get(kind), dark)));
		assert.ok(Math.min(...steps) >= 6, `${steps.join(" ")} dark ${dark}`);
	}
});

test("every label can be read on its box, in both themes, also where it is faded", () => {
	const categories = fills.map((fill) => ({ fill }));
	assert.equal(categories.length, 8);
	for (const dark of [false, true]) {
		const paints: Paint[] = [...paintsOfKinds(categories, dark), ...paintsOfChange(dark)];
		for (const paint of paints) {
			assert.ok(contrast(paint.fill, paint.ink) >= 4.5, `${paint.fill} dark ${dark}`);
			assert.ok(contrast(paint.faded, paint.fadedInk) >= 4.5, `${paint.faded} dark ${dark}`);
		}
	}
});

test("what threads do is told apart in grey, in both themes", () => {
	for (const dark of [false, true]) {
		const steps = stepsInGrey(fillsOfStates(dark));
		assert.ok(Math.min(...steps) >= 12, `${steps.join(" ")} dark ${dark}`);
	}
});

/** Of linear light, for who lacks one kind of cones: Machado, Oliveira and Fernandes 2009, severity 1. */
const EYES: Readonly<Record<string, readonly (readonly number[])[]>> = {
	protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
	deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
	tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

function product(matrix: readonly (readonly number[])[], vector: readonly number[]): number[] {
	return matrix.map((row) => row.reduce((sum, factor, i) => sum + factor * vector[i], 0));
}

const TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]];
const WHITE = [0.9505, 1, 1.089];

/** CIE L*a*b* of a colour as those eyes see it. */
function seenBy(eyes: readonly (readonly number[])[], colour: string): number[] {
	const linear = [1, 3, 5].map((at) => {
		const part = parseInt(colour.slice(at, at + 2), 16) / 255;
		return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
	});
	const seen = product(eyes, linear).map((part) => Math.min(1, Math.max(0, part)));
	const [x, y, z] = product(TO_XYZ, seen).map((part, i) => {
		const share = part / WHITE[i];
		return share > 216 / 24389 ? Math.cbrt(share) : (24389 / 27 * share + 16) / 116;
	});
	return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** The smallest difference (CIE 1976) between two of them. */
function nearest(eyes: readonly (readonly number[])[], colours: readonly string[]): number {
	const seen = colours.map((colour) => seenBy(eyes, colour));
	const apart = (one: number[], other: number[]): number => Math.hypot(...one.map((part, k) => part - other[k]));
	return Math.min(...seen.flatMap((one, i) => seen.slice(i + 1).map((other) => apart(one, other))));
}

/* A difference of 2.3 can just be seen side by side; these are told apart across the page. */
test("kinds of code, and what threads do, are told apart without one kind of cones, in both themes", () => {
	const kinds = ["OTHER", "APPLICATION", "LIBRARY", "STANDARD", "NATIVE", "KERNEL"];
	for (const [name, eyes] of Object.entries(EYES)) {
		for (const dark of [false, true]) {
			const ofKinds = nearest(eyes, kinds.map((kind) => fillOfKind(fillsByCategory.get(kind), dark)));
			const ofStates = nearest(eyes, fillsOfStates(dark));
			assert.ok(ofKinds >= 10, `kinds ${ofKinds} ${name} dark ${dark}`);
			assert.ok(ofStates >= 15, `states ${ofStates} ${name} dark ${dark}`);
		}
	}
});

test("a fill that is no colour is grey", () => {
	assert.equal(paintsOfKinds([{ fill: "url(evil)" }], false)[0].fill, "#e8e8e8");
});

test("keys go towards callees where they are, and leave combinations to the browser", () => {
	const none = { altKey: false, ctrlKey: false, metaKey: false, shiftKey: false };
	assert.equal(actionOf({ ...none, key: "ArrowDown" }, false), "callee");
	assert.equal(actionOf({ ...none, key: "ArrowDown" }, true), "caller");
	assert.equal(actionOf({ ...none, key: "ArrowLeft" }, true), "before");
	assert.equal(actionOf({ ...none, shiftKey: true, key: "ArrowLeft" }, false), "panLeft");
	assert.equal(actionOf({ ...none, shiftKey: true, key: "+" }, false), "closer");
	assert.equal(actionOf({ ...none, key: "F10" }, false), null);
	assert.equal(actionOf({ ...none, shiftKey: true, key: "F10" }, false), "menu");
	assert.equal(actionOf({ ...none, ctrlKey: true, key: "0" }, false), null);
	assert.equal(actionOf({ ...none, key: "f" }, false), null);
});
