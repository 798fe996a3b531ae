// SPDX-License-Identifier: Apache-2.0
/* A flame graph in the page: what part is seen, what is under the pointer, and drawing when either changes. What is
 * chosen (the node that fills the width, the selected node) belongs to the owner and comes in from outside. */

import { boxAt, boxFrom, boxOfNode, findBoxes, noBoxes } from "./boxes";
import { drawFlame, drawMarks, type Look, type Scene } from "./flame";
import { actionOf, type Action } from "./keys";
import { listenPointer, type Point } from "./pointer";
import {
	isWhole, rangeBetween, rangeOfNode, rangeOfShares, sharesOfRange, shifted, wholeOf, within, zoomed, type Range,
	type Shares,
} from "./range";
import { ROW_HEIGHT, rowAt, rowsSeen, scrollTo, topOfRow, type Rows } from "./rows";
import { caller, heaviestCallee, heaviestRoot, isWithin, nextInRow, previousInRow } from "./steps";
import { afterFrame, fitCanvas, onceAFrame } from "./surface";
import type { FlameTree } from "./tree";

export interface PanelElements {
	/** Scrolls and has the focus. */
	scroller: HTMLElement;
	/** As high as all rows. */
	sizer: HTMLElement;
	/** Stays in sight; holds both canvases. */
	window: HTMLElement;
	boxes: HTMLCanvasElement;
	marks: HTMLCanvasElement;
}

export interface Hit {
	node: number;
	/** Behind the last node of a strip; 0 frames: it is a box. */
	last: number;
	frames: number;
}

export interface PanelInput {
	tree: FlameTree;
	rowCount: number;
	look: Look;
	flipped: boolean;
	/** Fills the width, or -1. */
	zoom: number;
	/** What is seen all the same; null: what `zoom` says. */
	seen: Shares | null;
	/** Or -1. */
	selected: number;
	/** How many nodes of the selected function are before each node (one more than nodes); null: none is selected. */
	alike: Uint32Array | null;
	/** A click only selects, and a double click opens: functions are there for something else than to look closer. */
	opens: boolean;
	onSelect(node: number): void;
	onZoom(node: number): void;
	/** Something else than `zoom` is seen; null: no longer. Told when it has come to rest, if anybody asks. */
	onSeen: ((seen: Shares | null) => void) | null;
	onOpen(node: number): void;
	onHover(hit: Hit | null, at: Point): void;
	onMenu(node: number, at: Point): void;
	/** The part of the axis that is seen has changed. */
	onRange(range: Range): void;
}

export interface Panel {
	update(input: PanelInput): void;
	scene(): Scene;
	destroy(): void;
}

/** What the owner is to be told. */
interface Choice {
	selected?: number;
	zoom?: number;
}

/** A node that is narrower than this on the screen cannot be told by eye: moving onto it comes nearer. */
const TOO_NARROW = 2;
/** Zooming out goes to the next caller that is so much wider, so that each step can be seen. */
const WIDER = 1.02;
const KEY_ZOOM = 0.7;
const KEY_PAN = 0.25;
/** A wheel that has not been turned for so long is at rest. */
const REST_MS = 150;

export function createPanel(elements: PanelElements, first: PanelInput): Panel {
	let input = first;
	/* Ahead of the owner, who is told later. */
	let { zoom, selected } = input;
	let untold: Choice | null = null;
	/* What was told last of what is seen: it comes back, and changes nothing. */
	let told = input.seen;
	let resting = 0;
	let range: Range = rangeOfInput();
	let hovered: Hit | null = null;
	/* Where the pointer is, as long as it is what moves things. */
	let pointer: Point | null = null;
	let size = { width: elements.scroller.clientWidth, height: elements.scroller.clientHeight };
	const boxes = noBoxes();
	const schedule = onceAFrame(draw);
	const markSchedule = onceAFrame(markBoxes);
	const stop = new AbortController();

	function rangeOfZoom(): Range {
		const { tree } = input;
		return zoom >= 0 && tree.total[zoom] > 0 ? rangeOfNode(tree, zoom) : wholeOf(tree);
	}
	function rangeOfInput(): Range {
		return input.seen ? rangeOfShares(input.tree, input.seen) : rangeOfZoom();
	}
	function rows(): Rows {
		return {
			count: input.rowCount,
			flipped: input.flipped,
			height: size.height,
			scroll: elements.scroller.scrollTop,
		};
	}
	function scene(): Scene {
		const seen = rowsSeen(rows());
		const view = { ...range, width: size.width, firstRow: seen.first, lastRow: seen.last };
		return { tree: input.tree, view, rows: rows(), boxes, look: input.look };
	}
	function draw(): void {
		const surface = fitCanvas(elements.boxes, size.width, size.height, true);
		if (!surface || size.width === 0) return;
		const now = scene();
		findBoxes(now.tree, now.view, boxes);
		drawFlame(surface.context, now, surface.scale);
		if (pointer && hitAt(pointer)?.node !== hovered?.node) hover(pointer);
		markBoxes();
	}
	function markBoxes(): void {
		const surface = fitCanvas(elements.marks, size.width, size.height, false);
		if (!surface) return;
		const marks = {
			hovered: hovered ? boxFrom(boxes, hovered.node) : -1,
			selected: boxOfNode(boxes, selected),
			focused: document.activeElement === elements.scroller,
			alike: input.alike,
		};
		drawMarks(surface.context, scene(), marks, surface.scale);
	}
	function setRange(next: Range): void {
		range = within(next, input.tree.sum);
		input.onRange(range);
		schedule.ask();
	}
	/** By hand, not by what was chosen. */
	function look(next: Range): void {
		setRange(next);
		clearTimeout(resting);
		resting = window.setTimeout(tellSeen, REST_MS);
	}
	function tellSeen(): void {
		const set = rangeOfZoom();
		const seen = range.from === set.from && range.to === set.to ? null : sharesOfRange(input.tree, range);
		if (seen === told || !input.onSeen) return;
		told = seen;
		input.onSeen(seen);
	}
	function showRow(node: number): void {
		elements.scroller.scrollTop = scrollTo(rows(), input.tree.depth[node]);
	}
	/** Brings a node into sight with as little movement as possible. */
	function show(node: number): void {
		const { start, total, parent, sum } = input.tree;
		const pixel = (range.to - range.from) / Math.max(1, size.width);
		const inside = start[node] < range.to && start[node] + total[node] > range.from;
		if (!inside || total[node] < pixel * TOO_NARROW) {
			const above = parent[node] < 0 ? { from: 0, to: sum } : rangeOfNode(input.tree, parent[node]);
			const visible = total[node] * size.width >= TOO_NARROW * (above.to - above.from);
			look(visible ? above : rangeOfNode(input.tree, node));
		}
		showRow(node);
		schedule.ask();
	}
	function hitAt(point: Point): Hit | null {
		const box = boxAt(boxes, rowAt(rows(), point.y), point.x);
		return box < 0 ? null : { node: boxes.node[box], last: boxes.last[box], frames: boxes.frames[box] };
	}
	function hover(point: Point | null): void {
		pointer = point;
		const hit = point && hitAt(point);
		if (hit?.node !== hovered?.node) markSchedule.ask();
		hovered = hit;
		input.onHover(hit, point ?? { x: 0, y: 0 });
	}
	/** Much follows what is chosen: first it is shown, then told, and of what comes quickly only the last. */
	function tell(choice: Choice): void {
		if (!untold) afterFrame(tellNow);
		untold = { ...untold, ...choice };
	}
	function tellNow(): void {
		const choice = untold;
		untold = null;
		if (!choice || stop.signal.aborted) return;
		if (choice.selected !== undefined) input.onSelect(choice.selected);
		if (choice.zoom !== undefined) {
			told = null;
			input.onZoom(choice.zoom);
		}
	}
	function zoomTo(node: number): void {
		zoom = node;
		clearTimeout(resting);
		setRange(rangeOfZoom());
		if (node >= 0) showRow(node);
		if (node !== input.zoom || told || untold?.zoom !== undefined) tell({ zoom: node });
	}
	function select(node: number): void {
		selected = node;
		markSchedule.ask();
		tell({ selected: node });
	}
	function choose(hit: Hit, closer: boolean): void {
		if (hit.frames > 0) {
			if (closer) look(rangeBetween(input.tree, hit.node, hit.last));
			return;
		}
		select(hit.node);
		if (closer) zoomTo(hit.node);
	}
	function tap(point: Point, touch: boolean): void {
		const hit = hitAt(point);
		elements.scroller.focus({ preventScroll: true });
		if (hit) choose(hit, !touch && (!input.opens || hit.frames > 0));
	}
	function doubleTap(point: Point, touch: boolean): void {
		const hit = hitAt(point);
		if (!hit) return;
		if (input.opens && hit.frames === 0) input.onOpen(hit.node);
		else if (touch) choose(hit, true);
	}
	function zoomOut(): void {
		const { tree } = input;
		const set = rangeOfZoom();
		if (range.from !== set.from || range.to !== set.to) return look(set);
		if (zoom < 0) return;
		let wider = tree.parent[zoom];
		while (wider >= 0 && tree.total[wider] < tree.total[zoom] * WIDER) wider = tree.parent[wider];
		zoomTo(wider >= 0 && tree.parent[wider] >= 0 ? wider : -1);
	}
	function move(step: (tree: FlameTree, node: number) => number): void {
		const from = selected >= 0 ? selected : zoom;
		const to = from < 0 ? heaviestRoot(input.tree) : step(input.tree, from);
		if (to < 0) return;
		show(to);
		select(to);
	}
	function openSelected(): void {
		if (selected < 0) return;
		if (input.opens) input.onOpen(selected);
		else choose({ node: selected, last: selected, frames: 0 }, true);
	}
	function menuOfSelected(): void {
		const box = boxOfNode(boxes, selected);
		if (box < 0) return;
		const rect = elements.window.getBoundingClientRect();
		const below = topOfRow(rows(), boxes.row[box]) + ROW_HEIGHT;
		const y = rect.top + Math.min(rect.height, Math.max(0, below));
		input.onMenu(selected, { x: rect.left + Math.max(0, boxes.x[box]), y });
	}
	const zoomBy = (factor: number): void => look(zoomed(range, factor, 0.5, input.tree.sum));
	const panBy = (share: number): void => look(shifted(range, share, input.tree.sum));
	const actions: Record<Action, () => void> = {
		callee: () => move(heaviestCallee),
		caller: () => move(caller),
		before: () => move(previousInRow),
		after: () => move(nextInRow),
		root: () => move(heaviestRoot),
		panLeft: () => panBy(-KEY_PAN),
		panRight: () => panBy(KEY_PAN),
		closer: () => zoomBy(KEY_ZOOM),
		further: () => zoomBy(1 / KEY_ZOOM),
		open: openSelected,
		out: zoomOut,
		escape: zoomOut,
		all: () => zoomTo(-1),
		menu: menuOfSelected,
	};
	/** True if the key meant something here; Escape only as long as there is something to leave. */
	function key(event: KeyboardEvent): boolean {
		const action = actionOf(event, input.flipped);
		if (!action || (action === "escape" && isWhole(range, input.tree.sum))) return false;
		actions[action]();
		return true;
	}
	function resize(): void {
		const { clientWidth: width, clientHeight: height } = elements.scroller;
		if (width === size.width && height === size.height) return;
		const fromBottom = elements.scroller.scrollHeight - elements.scroller.scrollTop - size.height;
		size = { width, height };
		elements.window.style.height = `${height}px`;
		if (input.flipped) elements.scroller.scrollTop = elements.scroller.scrollHeight - height - fromBottom;
		schedule.ask();
	}
	function setHeight(): void {
		elements.sizer.style.height = `${input.rowCount * ROW_HEIGHT}px`;
		elements.window.style.height = `${size.height}px`;
	}
	/** The roots are where reading begins. */
	function showRoots(): void {
		elements.scroller.scrollTop = input.flipped ? elements.scroller.scrollHeight : 0;
	}
	function update(next: PanelInput): void {
		const before = input;
		input = next;
		if (next.tree === before.tree && next.look === before.look && next.flipped === before.flipped
			&& next.zoom === before.zoom && next.selected === before.selected && next.alike === before.alike
			&& next.seen === before.seen) return;
		if (next.rowCount !== before.rowCount) setHeight();
		if (next.tree !== before.tree || next.flipped !== before.flipped) {
			hovered = null;
			showRoots();
		}
		if (next.tree !== before.tree) untold = null;
		if (next.tree !== before.tree || next.zoom !== before.zoom || next.seen !== told) showZoom();
		if (next.selected !== before.selected || next.tree !== before.tree) {
			const isNew = next.selected !== selected;
			selected = next.selected;
			if (isNew && selected >= 0 && !isShown(selected)) show(selected);
		}
		schedule.ask();
	}
	function showZoom(): void {
		zoom = input.zoom;
		told = input.seen;
		clearTimeout(resting);
		setRange(rangeOfInput());
		if (zoom >= 0) showRow(zoom);
	}
	function isShown(node: number): boolean {
		const seen = rowsSeen(rows());
		const row = input.tree.depth[node];
		return boxOfNode(boxes, node) >= 0 && row >= seen.first && row <= seen.last
			&& (zoom < 0 || isWithin(input.tree, node, zoom) || isWithin(input.tree, zoom, node));
	}

	setHeight();
	showRoots();
	if (zoom >= 0) showRow(zoom);
	if (selected >= 0) showRow(selected);
	const watch = new ResizeObserver(resize);
	watch.observe(elements.scroller);
	listenPointer(elements.window, {
		tap,
		doubleTap,
		hover,
		drag(dx, dy) {
			hover(null);
			panBy(-dx / Math.max(1, size.width));
			elements.scroller.scrollTop -= dy;
		},
		zoom: (factor, point) => look(zoomed(range, factor, point.x / Math.max(1, size.width), input.tree.sum)),
		pan: (dx) => panBy(dx / Math.max(1, size.width)),
		menu(point, page) {
			const hit = hitAt(point);
			hover(null);
			if (!hit || hit.frames > 0) return;
			input.onSelect(hit.node);
			input.onMenu(hit.node, page);
		},
	}, stop.signal);
	const { signal } = stop;
	elements.scroller.addEventListener("scroll", () => schedule.ask(), { signal, passive: true });
	elements.scroller.addEventListener("focus", () => markSchedule.ask(), { signal });
	elements.scroller.addEventListener("blur", () => markSchedule.ask(), { signal });
	elements.scroller.addEventListener("keydown", (event) => {
		hover(null);
		if (!key(event)) return;
		event.preventDefault();
		event.stopPropagation();
	}, { signal });
	schedule.ask();
	return {
		update,
		scene,
		destroy() {
			stop.abort();
			clearTimeout(resting);
			watch.disconnect();
			schedule.stop();
			markSchedule.stop();
		},
	};
}
