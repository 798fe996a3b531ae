// SPDX-License-Identifier: Apache-2.0
// Nodes by their caller, function and line -> ids from 0 in order of appearance. Most have few siblings, which were met
// shortly before: to look at these costs less than a hash table, whose every look is a miss of the cache. Layer model.
import { intern, interner, type Interner } from "./interner";

/** Siblings that are looked at one by one; others are in the hash table. */
const near = 8;

export interface Family {
	count: number;
	/** By id; -1: none. */
	readonly parent: Int32Array;
	readonly fn: Int32Array;
	readonly line: Int32Array;
	/** The first child by parent (those of none at the end), and the next one; -1: there is none. */
	readonly first: Int32Array;
	readonly next: Int32Array;
	readonly far: Interner;
	/** Its ids -> ids. */
	readonly farId: number[];
}

/** `room`: the most that there will be. */
export function family(room: number): Family {
	return {
		count: 0,
		parent: new Int32Array(room),
		fn: new Int32Array(room),
		line: new Int32Array(room),
		first: new Int32Array(room + 1).fill(-1),
		next: new Int32Array(room).fill(-1),
		far: interner(),
		farId: [],
	};
}

function add(f: Family, parent: number, fn: number, line: number): number {
	const id = f.count++;
	f.parent[id] = parent;
	f.fn[id] = fn;
	f.line[id] = line;
	return id;
}

function farChildOf(f: Family, parent: number, fn: number, line: number): number {
	const at = intern(f.far, parent, fn, line);
	if (at === f.farId.length) f.farId.push(add(f, parent, fn, line));
	return f.farId[at]!;
}

export function childOf(f: Family, parent: number, fn: number, line: number): number {
	const above = parent < 0 ? f.first.length - 1 : parent;
	let last = -1;
	let child = f.first[above]!;
	for (let i = 0; child >= 0; i++) {
		if (f.fn[child] === fn && f.line[child] === line) return child;
		if (i === near) return farChildOf(f, parent, fn, line);
		last = child;
		child = f.next[child]!;
	}
	const id = add(f, parent, fn, line);
	if (last < 0) f.first[above] = id;
	else f.next[last] = id;
	return id;
}
