// SPDX-License-Identifier: Apache-2.0
// From the profile's call tree, a filter's frames and modules, and transforms to the shape of the tree that is shown.
// Figures come later (tree.ts), so that a filter of time or threads leaves the shape alone. Layer model; pure.
import type { Profile } from "../data/profile";
import { finish, type Steps, stride } from "../data/steps";
import { childOf, type Family, family } from "./family";
import { rowsWith } from "./labels";
import { dropped, fold, hide, type Stacks, stacksOf } from "./stacks";
import { Startup, startupFunctions } from "./startup";
import { apply, type Transform } from "./transform";
import { layingOut, type Shape } from "./tree";

export interface ShapeOptions {
	readonly by: "function" | "line";
	readonly startup: boolean;
	readonly transforms: readonly Transform[];
	/** As in `Filter`. */
	readonly kinds: number;
	readonly modules: readonly number[];
	readonly labels: readonly number[];
}

export interface FoldedShape extends Shape {
	/** Functions of start-up frames that were folded. */
	readonly folded: readonly number[];
}

/** The tree as it is in the profile. */
function baseShape(profile: Profile): Shape {
	const { count, parent, depth, end, fn, firstPlace, node } = profile.tree;
	const base = firstPlace.subarray(0, count);
	const line = new Int32Array(count);
	return { count, parent, depth, end, fn, line, nodeOf: node, out: null, base, keepsFrameless: true };
}

/** By F node: 1 if it, or a node that it is called from, is of such a function. */
function* below({ tree }: Profile, holds: (fn: number) => boolean): Steps<Uint8Array> {
	const inside = new Uint8Array(tree.count);
	for (let i = 0; i < tree.count; i++) {
		if (i % stride === 0) yield;
		const up = tree.parent[i]!;
		if ((up >= 0 && inside[up]) || holds(tree.fn[i]!)) inside[i] = 1;
	}
	return inside;
}

/** By L node: 1 if its stack has no frame of one of the modules, or not the labels. Null: neither is asked for. */
function* outside(profile: Profile, { modules, labels }: ShapeOptions): Steps<Uint8Array | null> {
	if (modules.length === 0 && labels.length === 0) return null;
	const { tree, functions, meta } = profile;
	const wanted = new Set(modules);
	const rows = rowsWith(meta, labels);
	const inModules = modules.length > 0 ? yield* below(profile, (fn) => wanted.has(functions.module[fn]!)) : null;
	const labelled = labels.length > 0 ? yield* below(profile, (fn) => rows.has(fn)) : null;
	const out = new Uint8Array(tree.places);
	for (let l = 0; l < out.length; l++) {
		if (l % stride === 0) yield;
		const node = tree.node[l]!;
		out[l] = (inModules?.[node] ?? 1) && (labelled?.[node] ?? 1) ? 0 : 1;
	}
	return out;
}

/** Weights of whole subtrees are not known yet: those of all samples by place, which give siblings their order. */
function* allSamples(profile: Profile): Steps<Float64Array> {
	const { place, samples, weight } = profile.cells;
	const all = new Float64Array(profile.tree.places);
	const amount = weight ?? samples;
	for (let i = 0; i < place.length; i++) {
		if (i % stride === 0) yield;
		if (place[i]! >= 0) all[place[i]!]! += amount[i]!;
	}
	return all;
}

/** Kept nodes that have samples, or call what has. */
function* neededNodes(s: Stacks, out: Uint8Array | null, all: Float64Array): Steps<Uint8Array> {
	const needed = new Uint8Array(s.count);
	for (let l = 0; l < all.length; l++) {
		if (l % stride === 0) yield;
		const to = s.to[s.ofPlace[l]!]!;
		if (to >= 0 && all[l]! > 0 && !out?.[l]) needed[to] = 1;
	}
	for (let i = s.count - 1; i >= 0; i--) {
		if (i % stride === 0) yield;
		if (needed[i] && s.parent[i]! >= 0) needed[s.parent[i]!] = 1;
	}
	return needed;
}

/** Nodes with the same caller, function and line become one. */
function* merge(s: Stacks, needed: Uint8Array): Steps<{ groupOf: Int32Array; table: Family }> {
	const table = family(s.count);
	const groupOf = new Int32Array(s.count).fill(-1);
	for (let i = 0; i < s.count; i++) {
		if (i % stride === 0) yield;
		if (!needed[i]) continue;
		const up = s.parent[i]!;
		groupOf[i] = childOf(table, up < 0 ? -1 : groupOf[up]!, s.fn[i]!, s.line[i]!);
	}
	return { groupOf, table };
}

function* shapeOfStacks(s: Stacks, out: Uint8Array | null, all: Float64Array): Steps<Shape> {
	const needed = yield* neededNodes(s, out, all);
	const { groupOf, table } = yield* merge(s, needed);
	const { count, parent, fn, line } = table;
	const groupAt = (l: number) => groupOf[s.to[s.ofPlace[l]!]!] ?? -1;
	const weight = new Float64Array(count);
	const someplace = new Int32Array(count);
	for (let l = all.length - 1; l >= 0; l--) {
		if (l % stride === 0) yield;
		const group = groupAt(l);
		if (group < 0) continue;
		weight[group]! += all[l]!;
		someplace[group] = l;
	}
	for (let group = count - 1; group >= 0; group--) {
		if (group % stride === 0) yield;
		const up = parent[group]!;
		if (up < 0) continue;
		weight[up]! += weight[group]!;
	}
	const { newId, ...laid } = yield* layingOut({ count, parent, fn, line, weight });
	const nodeOf = new Int32Array(all.length);
	const base = new Int32Array(count);
	for (let l = all.length - 1; l >= 0; l--) {
		if (l % stride === 0) yield;
		const to = s.to[s.ofPlace[l]!]!;
		const group = to >= 0 ? groupOf[to]! : -1;
		nodeOf[l] = group >= 0 ? newId[group]! : Math.min(to, dropped);
	}
	for (let group = 0; group < count; group++) {
		if (group % stride === 0) yield;
		base[newId[group]!] = someplace[group]!;
	}
	return { ...laid, nodeOf, out, base, keepsFrameless: s.keepsFrameless && !out };
}

export function* shaping(profile: Profile, o: ShapeOptions): Steps<FoldedShape> {
	const kinds = o.startup ? startupFunctions(profile) : null;
	const folds = kinds?.some((kind) => kind !== Startup.none && kind !== Startup.label) ?? false;
	if (o.by === "function" && !folds && !o.transforms.length && !o.kinds && !o.modules.length && !o.labels.length) {
		return { ...baseShape(profile), folded: [] };
	}
	const s = yield* stacksOf(profile, o.by);
	const folded = kinds && folds ? yield* fold(s, kinds) : [];
	if (o.kinds) yield* hide(s, (fn) => !(o.kinds & (1 << profile.functions.origin[fn]!)));
	for (const transform of o.transforms) yield* apply(profile, s, transform);
	const all = yield* allSamples(profile);
	return { ...(yield* shapeOfStacks(s, yield* outside(profile, o), all)), folded };
}

export function shapeOf(profile: Profile, o: ShapeOptions): FoldedShape {
	return finish(shaping(profile, o));
}
