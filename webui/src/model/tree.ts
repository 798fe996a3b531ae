// SPDX-License-Identifier: Apache-2.0
// Call trees in preorder. Layer model; pure.
import { findingEnds } from "../data/preorder";
import { finish, type Steps, stride } from "../data/steps";
import type { PlaceValues } from "./filter";

/** The nodes of a tree, without figures. Node i has the subtree i .. end[i] - 1; a caller stands before what it calls,
 * siblings heaviest first (as the whole profile has it, so that boxes keep their order when a filter is chosen). */
export interface Shape {
	readonly count: number;
	/** -1: none. */
	readonly parent: Int32Array;
	/** 0: a root. */
	readonly depth: Int32Array;
	readonly end: Int32Array;
	/** Row of the function table: a function, or from functions.count on a module or category that was collapsed. */
	readonly fn: Uint32Array;
	/** 0 in trees by function, and where it is not known. */
	readonly line: Int32Array;
	/** L node of the profile -> node; -1: its samples are dropped, -2: they count, but have no frame left. */
	readonly nodeOf: Int32Array;
	/** By L node: 1 if its own samples are dropped all the same; null: none are. */
	readonly out: Uint8Array | null;
	/** Node -> an L node that is in it. */
	readonly base: Int32Array;
	/** Samples without a frame count. */
	readonly keepsFrameless: boolean;
}

/** A tree with figures: nanoseconds or samples. */
export interface Tree extends Shape {
	readonly self: Float64Array;
	readonly total: Float64Array;
	/** Where the box begins, in the same unit: children side by side from the left, what is self on the right. */
	readonly x0: Float64Array;
	/** Everything that passes the filter, also stacks without frames: what shares are shares of. */
	readonly whole: number;
	/** Nodes whose children are not shown, because there are too many or they are too light; null: there are none. */
	readonly cut: Uint8Array | null;
}

/** A node by the profile rather than by its number, which changes with every transform: the node at `depth` on the way
 * to where L node `base` is. */
export interface Place {
	readonly base: number;
	readonly depth: number;
}

/** Nodes that are known by their caller (a smaller number, -1: none), function and line. */
export interface Loose {
	readonly count: number;
	readonly parent: Int32Array;
	readonly fn: Int32Array;
	readonly line: Int32Array;
	/** What siblings are put in order by. */
	readonly weight: Float64Array;
}

export interface Laid extends Omit<Shape, "nodeOf" | "out" | "base" | "keepsFrameless"> {
	/** Loose node -> node. */
	readonly newId: Int32Array;
}

/** First child and next sibling of each node, by number, and whether its children are not in order; what is so of the
 * roots is at `count`. */
function* link(loose: Loose): Steps<{ first: Int32Array; next: Int32Array; unsorted: Uint8Array }> {
	const { count, parent, weight } = loose;
	const first = new Int32Array(count + 1).fill(-1);
	const next = new Int32Array(count).fill(-1);
	const unsorted = new Uint8Array(count + 1);
	for (let i = count - 1; i >= 0; i--) {
		if (i % stride === 0) yield;
		const up = parent[i]! < 0 ? count : parent[i]!;
		const after = first[up]!;
		if (after >= 0 && weight[after]! > weight[i]!) unsorted[up] = 1;
		next[i] = after;
		first[up] = i;
	}
	return { first, next, unsorted };
}

/** So many callers have their callees put in order without a break, or so many callees of one. */
const fewSorts = 2 ** 11;

/** The heaviest first, equals as they are. Runs in order are merged to runs of twice the length until all is one. */
function* merged(nodes: readonly number[], weight: Float64Array): Steps<ArrayLike<number>> {
	const { length } = nodes;
	let from: Int32Array = Int32Array.from(nodes);
	let to: Int32Array = new Int32Array(length);
	for (let run = 1; run < length; run *= 2) {
		let [left, right] = [0, 0];
		for (let at = 0; at < length; at++) {
			if (at % stride === stride - 1) yield;
			const start = at - (at % (2 * run));
			const [middle, end] = [Math.min(start + run, length), Math.min(start + 2 * run, length)];
			if (at === start) [left, right] = [start, middle];
			const isLeft = right >= end || (left < middle && weight[from[left]!]! >= weight[from[right]!]!);
			to[at] = from[isLeft ? left++ : right++]!;
		}
		[from, to] = [to, from];
	}
	return from;
}

function* sortSiblings(first: Int32Array, next: Int32Array, weight: Float64Array, up: number): Steps<void> {
	const found: number[] = [];
	for (let i = first[up]!; i >= 0; i = next[i]!) found.push(i);
	const few = found.length <= fewSorts;
	const all = few ? found.sort((a, b) => weight[b]! - weight[a]! || a - b) : yield* merged(found, weight);
	first[up] = all[0]!;
	for (let i = 0; i < all.length; i++) next[all[i]!] = all[i + 1] ?? -1;
}

/** Put nodes in preorder, heaviest sibling first. */
export function* layingOut(loose: Loose): Steps<Laid> {
	const { count, parent } = loose;
	const { first, next, unsorted } = yield* link(loose);
	for (let up = 0, sorted = 0; up <= count; up++) {
		if (up % stride === 0) yield;
		if (!unsorted[up]) continue;
		yield* sortSiblings(first, next, loose.weight, up);
		if (++sorted % fewSorts === 0) yield;
	}
	const newId = new Int32Array(count);
	const laid = { parent: new Int32Array(count), depth: new Int32Array(count), line: new Int32Array(count) };
	const fn = new Uint32Array(count);
	for (let i = first[count]!, at = 0; i >= 0; at++) {
		if (at % stride === 0) yield;
		const up = parent[i]!;
		newId[i] = at;
		laid.parent[at] = up < 0 ? -1 : newId[up]!;
		laid.depth[at] = up < 0 ? 0 : laid.depth[newId[up]!]! + 1;
		fn[at] = loose.fn[i]!;
		laid.line[at] = loose.line[i]!;
		if (first[i]! >= 0) {
			i = first[i]!;
			continue;
		}
		while (i >= 0 && next[i]! < 0) i = parent[i]!;
		i = i < 0 ? -1 : next[i]!;
	}
	return { count, ...laid, fn, end: yield* findingEnds(laid.parent), newId };
}

/** Where boxes begin: side by side in the box of their caller. */
export function* findingOffsets(parent: Int32Array, total: Float64Array): Steps<Float64Array> {
	const x0 = new Float64Array(parent.length);
	const cursor = new Float64Array(parent.length);
	let roots = 0;
	for (let i = 0; i < parent.length; i++) {
		if (i % stride === 0) yield;
		const up = parent[i]!;
		if (up < 0) {
			x0[i] = roots;
			roots += total[i]!;
		} else {
			x0[i] = cursor[up]!;
			cursor[up]! += total[i]!;
		}
		cursor[i] = x0[i]!;
	}
	return x0;
}

export function offsets(parent: Int32Array, total: Float64Array): Float64Array {
	return finish(findingOffsets(parent, total));
}

/** Each node's own and all below it. */
function* totalling(parent: Int32Array, self: Float64Array): Steps<Float64Array> {
	const total = self.slice();
	for (let i = parent.length - 1; i >= 0; i--) {
		if (i % stride === 0) yield;
		const up = parent[i]!;
		if (up >= 0) total[up]! += total[i]!;
	}
	return total;
}

/** The node that the samples of an L node count for; -1: none, they are dropped; -2: none, but they count. */
export function nodeOfSamples(shape: Shape, place: number): number {
	return shape.out?.[place] ? -1 : shape.nodeOf[place]!;
}

function* ownOf(shape: Shape, values: Float64Array): Steps<Float64Array> {
	const { nodeOf, out } = shape;
	const self = new Float64Array(shape.count);
	for (let l = 0; l < nodeOf.length; l++) {
		if (l % stride === 0) yield;
		const node = nodeOf[l]!;
		if (node >= 0 && !out?.[l]) self[node]! += values[l]!;
	}
	return self;
}

/** All that is not dropped. */
export function* addingAll(shape: Shape, { values, frameless }: PlaceValues): Steps<number> {
	const { nodeOf, out } = shape;
	let whole = shape.keepsFrameless ? frameless : 0;
	for (let l = 0; l < nodeOf.length; l++) {
		if (l % stride === 0) yield;
		if (nodeOf[l] !== -1 && !out?.[l]) whole += values[l]!;
	}
	return whole;
}

export function* growing(shape: Shape, places: PlaceValues): Steps<Tree> {
	const self = yield* ownOf(shape, places.values);
	const total = yield* totalling(shape.parent, self);
	const x0 = yield* findingOffsets(shape.parent, total);
	return { ...shape, self, total, x0, whole: yield* addingAll(shape, places), cut: null };
}

export function treeOf(shape: Shape, places: PlaceValues): Tree {
	return finish(growing(shape, places));
}

export function placeOf(tree: Shape, node: number): Place {
	return { base: tree.base[node]!, depth: tree.depth[node]! };
}

/** -1: it is not in this tree. */
export function nodeAt(tree: Shape, place: Place): number {
	let node = tree.nodeOf[place.base] ?? -1;
	if (node < 0 || tree.depth[node]! < place.depth) return -1;
	while (tree.depth[node]! > place.depth) node = tree.parent[node]!;
	return node;
}

/** Whether anything that passes has the function on its stack. */
export function hasTime(tree: Tree, fn: number): boolean {
	for (let node = 0; node < tree.count; node++) if (tree.fn[node] === fn && tree.total[node]! > 0) return true;
	return false;
}

/** From the root to the node. */
export function pathOf(tree: Shape, node: number): number[] {
	const path: number[] = [];
	for (let i = node; i >= 0; i = tree.parent[i]!) path.push(i);
	return path.reverse();
}

/** With node -1 the roots. */
export function childrenOf(tree: Shape, node: number): number[] {
	const children: number[] = [];
	const end = node < 0 ? tree.count : tree.end[node]!;
	for (let i = node + 1; i < end; i = tree.end[i]!) children.push(i);
	return children;
}

/** From the heaviest root always on to the heaviest child, as long as that has at least `share` of its caller. */
export function heaviestPath(tree: Tree, share = 0.5): number[] {
	const path: number[] = [];
	for (let node = -1, above = tree.whole; ; ) {
		let best = -1;
		for (const child of childrenOf(tree, node)) {
			if (best < 0 || tree.total[child]! > tree.total[best]!) best = child;
		}
		if (best < 0 || tree.total[best]! <= 0 || tree.total[best]! < share * above) return path;
		path.push(best);
		above = tree.total[best]!;
		node = best;
	}
}
