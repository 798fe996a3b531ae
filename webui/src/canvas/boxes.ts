// SPDX-License-Identifier: Apache-2.0
/* Which boxes of a tree are seen. The walk jumps over subtrees that are outside or too narrow, so that it costs what
 * is on the screen and not what is in the tree. Neighbours in a row that are too narrow to draw share one strip:
 * nothing is dropped. */

import type { FlameTree, View } from "./tree";

/** Boxes narrower than this many CSS pixels become part of a strip. */
const NARROW = 0.5;
/** Strips closer than this are one. */
const CLOSE = 1;

/** Columns; box i is a frame if frames[i] is 0, else a strip of so many, from node[i] to last[i]. */
export interface Boxes {
	count: number;
	node: Int32Array;
	last: Int32Array;
	row: Int32Array;
	x: Float64Array;
	width: Float64Array;
	frames: Int32Array;
}

export function noBoxes(): Boxes {
	return withRoom(1024);
}

function withRoom(room: number): Boxes {
	return {
		count: 0,
		node: new Int32Array(room),
		last: new Int32Array(room),
		row: new Int32Array(room),
		x: new Float64Array(room),
		width: new Float64Array(room),
		frames: new Int32Array(room),
	};
}

function grow(boxes: Boxes): void {
	const bigger = withRoom(boxes.node.length * 2);
	bigger.node.set(boxes.node);
	bigger.last.set(boxes.last);
	bigger.row.set(boxes.row);
	bigger.x.set(boxes.x);
	bigger.width.set(boxes.width);
	bigger.frames.set(boxes.frames);
	Object.assign(boxes, bigger, { count: boxes.count });
}

function add(boxes: Boxes, node: number, row: number, x: number, width: number): number {
	if (boxes.count === boxes.node.length) grow(boxes);
	const box = boxes.count++;
	boxes.node[box] = node;
	boxes.last[box] = node;
	boxes.row[box] = row;
	boxes.x[box] = x;
	boxes.width[box] = width;
	boxes.frames[box] = 0;
	return box;
}

/** The strip that is still open in each row that is seen, or -1. */
type OpenStrips = Int32Array;

function addToStrip(
	boxes: Boxes, open: OpenStrips, slot: number, tree: FlameTree, node: number, x: number, width: number,
): void {
	const frames = tree.end[node] - node;
	const strip = open[slot];
	if (strip >= 0 && x - (boxes.x[strip] + boxes.width[strip]) < CLOSE) {
		boxes.width[strip] = x + width - boxes.x[strip];
		boxes.frames[strip] = boxes.frames[strip] + frames;
		boxes.last[strip] = node;
		return;
	}
	const box = add(boxes, node, tree.depth[node], x, width);
	boxes.frames[box] = frames;
	open[slot] = box;
}

/** The node after those that lie to the right of everything that is seen. */
function behindSiblings(tree: FlameTree, node: number): number {
	const parent = tree.parent[node];
	return parent < 0 ? tree.count : tree.end[parent];
}

export function findBoxes(tree: FlameTree, view: View, boxes: Boxes): void {
	const { depth, end, start, total, count } = tree;
	const scale = view.width / (view.to - view.from);
	const open: OpenStrips = new Int32Array(Math.max(0, view.lastRow - view.firstRow + 1)).fill(-1);

	boxes.count = 0;
	if (view.to <= view.from) return;
	for (let node = 0; node < count;) {
		const row = depth[node];
		const x = (start[node] - view.from) * scale;
		const width = total[node] * scale;
		if (x >= view.width) {
			node = behindSiblings(tree, node);
		} else if (row > view.lastRow || x + width <= 0 || width === 0) {
			node = end[node];
		} else if (width < NARROW) {
			if (row >= view.firstRow) addToStrip(boxes, open, row - view.firstRow, tree, node, x, width);
			node = end[node];
		} else {
			if (row >= view.firstRow) {
				add(boxes, node, row, x, width);
				open[row - view.firstRow] = -1;
			}
			node++;
		}
	}
}

/** The box at a point, or -1. A strip may be thinner than a pointer can hit: two pixels beside it are still it. */
export function boxAt(boxes: Boxes, row: number, x: number): number {
	let near = -1;
	for (let box = 0; box < boxes.count; box++) {
		if (boxes.row[box] !== row) continue;
		const left = boxes.x[box];
		const right = left + boxes.width[box];
		if (x >= left && x < right) return box;
		if (boxes.frames[box] > 0 && x >= left - 2 && x < right + 2) near = box;
	}
	return near;
}

/** The box that is a node, or the strip that begins with it. */
export function boxFrom(boxes: Boxes, node: number): number {
	for (let box = 0; box < boxes.count; box++) {
		if (boxes.node[box] === node) return box;
	}
	return -1;
}

/** The box that is a node, or -1 if it is not seen or in a strip. */
export function boxOfNode(boxes: Boxes, node: number): number {
	const box = boxFrom(boxes, node);
	return box >= 0 && boxes.frames[box] === 0 ? box : -1;
}
