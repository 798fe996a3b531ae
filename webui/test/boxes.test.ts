// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { boxAt, boxFrom, boxOfNode, findBoxes, noBoxes, type Boxes } from "../src/canvas/boxes";
import { flameTreeOf, type FlameTree, type View } from "../src/canvas/tree";

/** From depths and self times in preorder. */
function treeOf(depths: number[], selfs: number[]): FlameTree {
	const count = depths.length;
	const depth = Int32Array.from(depths);
	const parent = new Int32Array(count).fill(-1);
	const end = new Int32Array(count);
	const total = Float64Array.from(selfs);
	const above: number[] = [];
	for (let i = 0; i < count; i++) {
		above.length = depth[i];
		parent[i] = above[depth[i] - 1] ?? -1;
		above[depth[i]] = i;
		end[i] = i + 1;
	}
	for (let i = count - 1; i >= 0; i--) {
		if (parent[i] < 0) continue;
		total[parent[i]] += total[i];
		end[parent[i]] = Math.max(end[parent[i]], end[i]);
	}
	return flameTreeOf({ count, depth, parent, end, total });
}

function boxesOf(tree: FlameTree, view: Partial<View>): Boxes {
	const boxes = noBoxes();
	findBoxes(tree, { from: 0, to: tree.sum, width: 100, firstRow: 0, lastRow: 1000, ...view }, boxes);
	return boxes;
}

function listed(boxes: Boxes): { node: number; x: number; width: number; frames: number }[] {
	return Array.from({ length: boxes.count }, (_, i) => ({
		node: boxes.node[i],
		x: boxes.x[i],
		width: boxes.width[i],
		frames: boxes.frames[i],
	}));
}

test("callees lie side by side from the left end of their caller", () => {
	const tree = treeOf([0, 1, 1, 2, 0], [10, 20, 0, 30, 40]);
	assert.equal(tree.sum, 100);
	assert.deepEqual([...tree.start], [0, 0, 20, 20, 60]);
	assert.deepEqual(
		listed(boxesOf(tree, {})).map(({ node, x, width }) => [node, x, width]),
		[[0, 0, 60], [1, 0, 20], [2, 20, 30], [3, 20, 30], [4, 60, 40]],
	);
});

test("only what is inside of the view is found, and ancestors of it", () => {
	const tree = treeOf([0, 1, 2, 1, 2, 0], [0, 0, 25, 0, 25, 50]);
	const boxes = boxesOf(tree, { from: 25, to: 50 });
	assert.deepEqual(listed(boxes).map(({ node }) => node), [0, 3, 4]);
	assert.deepEqual(listed(boxes).map(({ x, width }) => [x, width]), [[-100, 200], [0, 100], [0, 100]]);
	assert.deepEqual(listed(boxesOf(tree, { firstRow: 1, lastRow: 1 })).map(({ node }) => node), [1, 3]);
});

test("neighbours that are too narrow share a strip that knows how many they are", () => {
	const narrow = Array.from({ length: 1000 }, () => 1);
	const tree = treeOf([0, 1, ...narrow.map(() => 1)], [0, 1000, ...narrow]);
	const boxes = listed(boxesOf(tree, {}));
	assert.equal(boxes.length, 3);
	assert.deepEqual(boxes[2].frames, 1000);
	assert.ok(Math.abs(boxes[2].x - 50) < 1e-9 && Math.abs(boxes[2].width - 50) < 1e-6);
});

test("a strip opens when one comes nearer", () => {
	const narrow = Array.from({ length: 1000 }, () => 1);
	const tree = treeOf([0, 1, ...narrow.map(() => 1)], [0, 1000, ...narrow]);
	const boxes = listed(boxesOf(tree, { from: 1500, to: 1510 }));
	assert.equal(boxes.filter(({ frames, node }) => frames === 0 && node > 1).length, 10);
});

/** The rule of the picture: each moment of each row that a node takes is covered by a box or a strip. */
test("nothing is dropped, whatever part is seen", () => {
	let seed = 7;
	const random = (): number => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
	for (let round = 0; round < 60; round++) {
		const depths = [0];
		for (let i = 1; i < 400; i++) depths.push(Math.floor(random() * Math.min(12, depths[i - 1] + 2)));
		const tree = treeOf(depths, depths.map(() => (random() < 0.2 ? 0 : random() ** 6)));
		const from = random() * tree.sum * 0.8;
		const view = { from, to: from + tree.sum * 0.2 * random() + 1e-3, width: 300, firstRow: 1, lastRow: 8 };
		const boxes = noBoxes();
		findBoxes(tree, view, boxes);
		for (let node = 0; node < tree.count; node++) {
			const row = tree.depth[node];
			const scale = view.width / (view.to - view.from);
			const left = (tree.start[node] - view.from) * scale;
			const right = left + tree.total[node] * scale;
			if (row < 1 || row > 8 || right <= 0 || left >= 300 || right - left < 0.5) continue;
			const box = boxOfNode(boxes, node);
			const hidden = ancestorsNarrow(tree, node, scale);
			assert.ok(box >= 0 || hidden, `node ${node} of round ${round}`);
			if (box < 0) continue;
			const middle = (Math.max(0, left) + Math.min(300, right)) / 2;
			assert.equal(boxAt(boxes, row, middle), box);
		}
	}
});

function ancestorsNarrow(tree: FlameTree, node: number, scale: number): boolean {
	for (let at = tree.parent[node]; at >= 0; at = tree.parent[at]) if (tree.total[at] * scale < 0.5) return true;
	return false;
}

test("the frames of strips and boxes are all frames that take time", () => {
	const tree = treeOf([0, 1, 2, 2, 1, 1, 2, 0], [1, 1e-9, 1, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9]);
	const boxes = listed(boxesOf(tree, {}));
	const frames = boxes.reduce((sum, box) => sum + Math.max(1, box.frames), 0);
	assert.equal(frames, tree.count);
});

test("an empty tree and an empty range have no boxes", () => {
	assert.equal(boxesOf(treeOf([], []), {}).count, 0);
	assert.equal(boxesOf(treeOf([0], [0]), {}).count, 0);
});

test("a thin strip is hit from beside it, a box only from inside", () => {
	const tree = treeOf([0, 1, 1, 1], [50, 49.9, 0.1, 0]);
	const boxes = boxesOf(tree, {});
	const strip = listed(boxes).findIndex(({ frames }) => frames > 0);
	assert.equal(boxAt(boxes, 1, 51), strip);
	assert.equal(boxAt(boxes, 1, 60), -1);
});

test("boxes of a picture that was seen before are forgotten", () => {
	const tree = treeOf([0, 1, 1], [0, 50, 50]);
	const boxes = noBoxes();
	findBoxes(tree, { from: 0, to: 100, width: 100, firstRow: 0, lastRow: 9 }, boxes);
	assert.equal(boxFrom(boxes, 2), 2);
	findBoxes(tree, { from: 0, to: 50, width: 100, firstRow: 0, lastRow: 9 }, boxes);
	assert.equal(boxFrom(boxes, 2), -1);
});
