// SPDX-License-Identifier: Apache-2.0
// Triples of numbers -> ids from 0 in order of appearance: a hash table in typed arrays, because Map with a million
// keys is several times slower. Layer model; no DOM.

export interface Interner {
	count: number;
	/** The triples, by id. */
	a: Int32Array;
	b: Int32Array;
	c: Int32Array;
	/** Triples with 1 + their id behind them, each four numbers together: a look is one line of the cache. */
	slots: Int32Array;
}

/** `expected`: about how many there will be. */
export function interner(expected = 512): Interner {
	const size = 2 ** Math.ceil(Math.log2(Math.max(expected, 16)));
	return {
		count: 0,
		a: new Int32Array(size),
		b: new Int32Array(size),
		c: new Int32Array(size),
		slots: new Int32Array(size * 2 * 4),
	};
}

function hashOf(a: number, b: number, c: number): number {
	let h = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35);
	h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
	return (h ^ (h >>> 13)) >>> 0;
}

function longer(from: Int32Array): Int32Array {
	const to = new Int32Array(from.length * 2);
	to.set(from);
	return to;
}

/** Where the triple is, or the free slot where it belongs. */
function find(slots: Int32Array, a: number, b: number, c: number): number {
	const mask = slots.length - 1;
	let at = (hashOf(a, b, c) << 2) & mask;
	while (slots[at + 3] && (slots[at] !== a || slots[at + 1] !== b || slots[at + 2] !== c)) at = (at + 4) & mask;
	return at;
}

function put(slots: Int32Array, at: number, a: number, b: number, c: number, id: number): void {
	slots[at] = a;
	slots[at + 1] = b;
	slots[at + 2] = c;
	slots[at + 3] = id + 1;
}

function grow(t: Interner): void {
	t.a = longer(t.a);
	t.b = longer(t.b);
	t.c = longer(t.c);
	t.slots = new Int32Array(t.slots.length * 2);
	for (let id = 0; id < t.count; id++) {
		const [a, b, c] = [t.a[id]!, t.b[id]!, t.c[id]!];
		put(t.slots, find(t.slots, a, b, c), a, b, c, id);
	}
}

/** A new triple has the id that `count` was before. */
export function intern(t: Interner, a: number, b: number, c: number): number {
	const at = find(t.slots, a, b, c);
	const known = t.slots[at + 3]!;
	if (known) return known - 1;
	const id = t.count++;
	t.a[id] = a;
	t.b[id] = b;
	t.c[id] = c;
	put(t.slots, at, a, b, c, id);
	if (t.count === t.a.length) grow(t);
	return id;
}
