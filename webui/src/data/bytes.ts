// SPDX-License-Identifier: Apache-2.0
// Numbers out of bytes: varints, svarints (zigzag) and columns of them. What ends too early or is out of range is an
// error, so that no loop runs on rubbish. Layer data; pure.

const cut = "the data ends too early";

export interface Bytes {
	readonly data: Uint8Array;
	at: number;
	readonly end: number;
}

export function bytesOf(data: Uint8Array): Bytes {
	return { data, at: 0, end: data.length };
}

export function isAtEnd(b: Bytes): boolean {
	return b.at >= b.end;
}

/** Up to 64 bits; beyond 2^53 rounded. */
export function varint(b: Bytes): number {
	let value = 0;
	let scale = 1;
	for (let i = 0; i < 10; i++) {
		if (b.at >= b.end) throw new Error(cut);
		const byte = b.data[b.at++]!;
		value += (byte & 127) * scale;
		if (byte < 128) return value;
		scale *= 128;
	}
	throw new Error("a number has no end");
}

function unzigzag(v: number): number {
	return v % 2 ? -(v + 1) / 2 : v / 2;
}

export function svarint(b: Bytes): number {
	return unzigzag(varint(b));
}

/** A number of things that take at least a byte each, so that a damaged one cannot ask for all memory. */
export function countOf(b: Bytes): number {
	const n = varint(b);
	if (n > b.end - b.at) throw new Error(cut);
	return n;
}

/** The next `length` bytes by themselves. */
export function part(b: Bytes, length: number): Bytes {
	if (length > b.end - b.at) throw new Error(cut);
	const from = b.at;
	b.at += length;
	return { data: b.data, at: from, end: b.at };
}

export function rest(b: Bytes): Uint8Array {
	return b.data.subarray(b.at, b.end);
}

/** As many varints, each at most `max` (< 2^31). Most are a byte long: that is the loop to be quick in, so it knows one
 * type of array only. */
export function column(b: Bytes, count: number, max: number): Int32Array {
	if (count > b.end - b.at) throw new Error(cut);
	const out = new Int32Array(count);
	const { data, end } = b;
	let { at } = b;
	for (let i = 0; i < count; i++) {
		let value = at < end ? data[at]! : 128;
		if (value < 128) at++;
		else {
			b.at = at;
			value = varint(b);
			at = b.at;
		}
		if (value > max) throw new Error("a number is out of range");
		out[i] = value;
	}
	b.at = at;
	return out;
}

/** Running sums of svarints, each between 0 and `max` (< 2^31). */
export function deltas(b: Bytes, count: number, max: number): Int32Array {
	if (count > b.end - b.at) throw new Error(cut);
	const out = new Int32Array(count);
	const { data, end } = b;
	let last = 0;
	for (let i = 0; i < count; i++) {
		const byte = b.at < end ? data[b.at]! : 128;
		if (byte < 128) {
			b.at++;
			last += (byte >>> 1) ^ -(byte & 1);
		} else last += svarint(b);
		if (!(last >= 0 && last <= max)) throw new Error("a number is out of range");
		out[i] = last;
	}
	return out;
}

/** Varints of any size. */
export function amounts(b: Bytes, count: number): Float64Array {
	if (count > b.end - b.at) throw new Error(cut);
	const out = new Float64Array(count);
	amountsInto(b, count, out, 0, 1);
	return out;
}

/** The same at out[first], out[first + step], ...: columns that are to stand side by side. */
export function amountsInto(b: Bytes, count: number, out: Float64Array, first: number, step: number): void {
	if (count > b.end - b.at) throw new Error(cut);
	const { data, end } = b;
	for (let i = 0, to = first; i < count; i++, to += step) {
		const byte = b.at < end ? data[b.at]! : 128;
		if (byte < 128) {
			b.at++;
			out[to] = byte;
		} else out[to] = varint(b);
	}
}

/** The same numbers: none is negative. */
export function unsigned(column: Int32Array): Uint32Array {
	return new Uint32Array(column.buffer as ArrayBuffer, column.byteOffset, column.length);
}
