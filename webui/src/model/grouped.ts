// SPDX-License-Identifier: Apache-2.0
// Trees that are grown out of another one: from the innermost frames outwards (inverted), callers and callees of a
// function. A node stands for the nodes of the other tree that were reached by the same way (its members); one level is
// grown after the other, so that the lightest and deepest are left out first when there would be too many. Layer model.
import { finish, type Steps, stride } from "../data/steps";
import { intern, interner, type Interner } from "./interner";
import { findingOffsets, layingOut, type Tree } from "./tree";

/** Lighter groups than this part of the roots that are grown are not gone on with: a pixel is 30 times as wide. */
const leastShare = 2e-5;
/** Steps from a node to a caller. Deep recursion needs the square of its depth: beyond this callers are cut off. */
const maxSteps = 8_000_000;
/** So many have their callees looked through without a break. */
const fewCallers = 2 ** 13;

/** Members of a level, side by side: a node of the other tree, the group it is in, what flows through it, and the node
 * that the way began at. */
interface Level {
	count: number;
	node: Int32Array;
	group: Int32Array;
	weight: Float64Array;
	origin: Int32Array;
}

interface Growth {
	readonly from: Tree;
	readonly table: Interner;
	/** By group; as long as there is room for in the table. */
	self: Float64Array;
	total: Float64Array;
	/** Node of the other tree that the group was first reached from. */
	first: Int32Array;
	cut: Uint8Array;
	hasCut: boolean;
	/** Node of the other tree -> the deepest group that it is in. */
	readonly deepest: Int32Array;
}

function emptyLevel(room: number): Level {
	return {
		count: 0,
		node: new Int32Array(room),
		group: new Int32Array(room),
		weight: new Float64Array(room),
		origin: new Int32Array(room),
	};
}

/** `expected`: about how many groups there will be. To make the table larger takes longer than a step may. */
function growth(from: Tree, expected?: number): Growth {
	const deepest = new Int32Array(from.count).fill(-1);
	const none = { self: new Float64Array(0), total: new Float64Array(0), first: new Int32Array(0) };
	return { from, table: interner(expected), ...none, cut: new Uint8Array(0), hasCut: false, deepest };
}

/** As long as the columns of the table. */
function lengthen(g: Growth): void {
	const room = g.table.a.length;
	const copy = <T extends Float64Array | Int32Array | Uint8Array>(from: T, to: T): T => {
		to.set(from);
		return to;
	};
	g.self = copy(g.self, new Float64Array(room));
	g.total = copy(g.total, new Float64Array(room));
	g.first = copy(g.first, new Int32Array(room));
	g.cut = copy(g.cut, new Uint8Array(room));
}

function groupOf(g: Growth, above: number, fn: number, line: number, origin: number): number {
	const known = g.table.count;
	const group = intern(g.table, above, fn, line);
	if (group === known) {
		if (g.self.length !== g.table.a.length) lengthen(g);
		g.first[group] = origin;
	}
	return group;
}

function put(g: Growth, level: Level, group: number, node: number, weight: number, origin: number): void {
	const at = level.count++;
	level.node[at] = node;
	level.group[at] = group;
	level.weight[at] = weight;
	level.origin[at] = origin;
	g.total[group]! += weight;
	g.deepest[origin] = group;
}

function cutOff(g: Growth, group: number): void {
	g.cut[group] = 1;
	g.hasCut = true;
}

/** From a level to that of its callers, in place: a member has one at most. What has none began there: it is the
 * group's own. */
function* growUp(g: Growth, level: Level, grows: (group: number) => boolean): Steps<void> {
	const { from } = g;
	const { count } = level;
	level.count = 0;
	for (let m = 0; m < count; m++) {
		if (m % stride === 0) yield;
		const group = level.group[m]!;
		const weight = level.weight[m]!;
		const up = from.parent[level.node[m]!]!;
		if (up < 0) g.self[group]! += weight;
		else if (!grows(group)) cutOff(g, group);
		else {
			const origin = level.origin[m]!;
			put(g, level, groupOf(g, group, from.fn[up]!, from.line[up]!, origin), up, weight, origin);
		}
	}
}

function* growCallers(g: Growth, level: Level, least: number, steps: number): Steps<void> {
	let left = steps;
	while (level.count) {
		left -= level.count;
		yield* growUp(g, level, left < 0 ? () => false : (group) => g.total[group]! >= least);
	}
}

function* treeOf(g: Growth): Steps<Tree> {
	const { from, table } = g;
	const { count } = table;
	const loose = { count, parent: table.a, fn: table.b, line: table.c, weight: g.total };
	const { newId, ...laid } = yield* layingOut(loose);
	const self = new Float64Array(count);
	const total = new Float64Array(count);
	const base = new Int32Array(count);
	const cut = new Uint8Array(count);
	for (let group = 0; group < count; group++) {
		if (group % stride === 0) yield;
		const node = newId[group]!;
		self[node] = g.self[group]!;
		total[node] = g.total[group]!;
		base[node] = from.base[g.first[group]!]!;
		cut[node] = g.cut[group]!;
	}
	const nodeOf = new Int32Array(from.nodeOf.length).fill(-1);
	for (let l = 0; l < nodeOf.length; l++) {
		if (l % stride === 0) yield;
		const node = from.nodeOf[l]!;
		const group = node < 0 ? -1 : g.deepest[node]!;
		if (group >= 0) nodeOf[l] = newId[group]!;
	}
	const { out, keepsFrameless, whole } = from;
	const x0 = yield* findingOffsets(laid.parent, total);
	return { ...laid, nodeOf, out, base, keepsFrameless, self, total, x0, whole, cut: g.hasCut ? cut : null };
}

/** Roots are innermost functions with the time they took themselves; below them who called them. With `root` a function
 * only its root is grown, the finer: what is zoomed into. */
export function* inverting(from: Tree, root = -1, steps = maxSteps): Steps<Tree> {
	const g = growth(from, from.count);
	const level = emptyLevel(from.count);
	let grown = 0;
	for (let i = 0; i < from.count; i++) {
		if (i % stride === 0) yield;
		const self = from.self[i]!;
		if (!(self > 0)) continue;
		const group = groupOf(g, -1, from.fn[i]!, from.line[i]!, i);
		put(g, level, group, i, self, i);
		if (root < 0 || from.fn[i] === root) grown += self;
	}
	const least = grown * leastShare;
	yield* growUp(g, level, (group) => (root < 0 || g.table.b[group] === root) && g.total[group]! >= least);
	yield* growCallers(g, level, least, steps);
	return yield* treeOf(g);
}

export function invert(from: Tree, root = -1, steps = maxSteps): Tree {
	return finish(inverting(from, root, steps));
}

/** The nodes of a function that are not below another one of it: each sample with the function is in one of them. */
export function outermostOf(from: Tree, fn: number): number[] {
	const nodes: number[] = [];
	for (let i = 0; i < from.count; ) {
		if (from.fn[i] === fn) {
			if (from.total[i]! > 0) nodes.push(i);
			i = from.end[i]!;
		} else i++;
	}
	return nodes;
}

function rootLevel(g: Growth, nodes: readonly number[], fn: number, room: number): Level {
	const level = emptyLevel(room);
	for (const i of nodes) put(g, level, groupOf(g, -1, fn, 0, i), i, g.from.total[i]!, i);
	return level;
}

/** Who called a function: it is the root; recursion counts once, from the outermost call on. */
export function* callersIn(from: Tree, fn: number, steps = maxSteps): Steps<Tree> {
	const g = growth(from);
	const nodes = outermostOf(from, fn);
	const level = rootLevel(g, nodes, fn, nodes.length);
	yield* growCallers(g, level, nodes.length ? g.total[0]! * leastShare : 0, steps);
	for (const i of nodes) g.deepest.fill(g.deepest[i]!, i, from.end[i]);
	return yield* treeOf(g);
}

export function callersOf(from: Tree, fn: number, steps = maxSteps): Tree {
	return finish(callersIn(from, fn, steps));
}

/** What a function called: it is the root; calls of itself by itself are part of the root. */
export function* calleesIn(from: Tree, fn: number): Steps<Tree> {
	const g = growth(from);
	const nodes = outermostOf(from, fn);
	const room = nodes.reduce((sum, i) => sum + from.end[i]! - i, 0);
	let level = rootLevel(g, nodes, fn, room);
	let next = emptyLevel(room);
	const least = nodes.length ? g.total[0]! * leastShare : 0;
	while (level.count) {
		next.count = 0;
		yield* growDown(g, level, next, fn, least);
		[level, next] = [next, level];
	}
	return yield* treeOf(g);
}

export function calleesOf(from: Tree, fn: number): Tree {
	return finish(calleesIn(from, fn));
}

/** What is in a subtree that is not gone on with counts as the group's: its samples are found there. */
function cutSubtree(g: Growth, node: number, group: number): void {
	cutOff(g, group);
	g.deepest.fill(group, node, g.from.end[node]);
}

function* growDown(g: Growth, level: Level, next: Level, fn: number, least: number): Steps<void> {
	const { from } = g;
	// The level gets longer while it is gone through: direct recursion belongs to the root.
	for (let m = 0; m < level.count; m++) {
		if (m % fewCallers === 0) yield;
		const node = level.node[m]!;
		const group = level.group[m]!;
		g.self[group]! += from.self[node]!;
		const isLeaf = from.end[node] === node + 1;
		if (!isLeaf && g.total[group]! < least) cutSubtree(g, node, group);
		else growChildren(g, level, next, m, fn);
	}
}

function growChildren(g: Growth, level: Level, next: Level, m: number, fn: number): void {
	const { from } = g;
	const node = level.node[m]!;
	const group = level.group[m]!;
	const isRoot = g.table.a[group] === -1;
	for (let child = node + 1; child < from.end[node]!; child = from.end[child]!) {
		const weight = from.total[child]!;
		if (!(weight > 0)) continue;
		if (isRoot && from.fn[child] === fn) {
			// Its weight is in that of the root already.
			const at = level.count++;
			level.node[at] = child;
			level.group[at] = group;
			g.deepest[child] = group;
		} else put(g, next, groupOf(g, group, from.fn[child]!, from.line[child]!, child), child, weight, child);
	}
}
