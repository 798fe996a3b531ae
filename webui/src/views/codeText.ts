// SPDX-License-Identifier: Apache-2.0
/* A line of source text for the screen: safe, of bearable length, and cut where an expression begins and ends. */

import { display } from "../model/names";

const LONGEST = 1000;

/** Tabs stay, other control characters and those that turn text round are made visible. */
function safe(text: string): string {
	return text.split("\t").map(display).join("\t");
}

function bytesOf(code: number): number {
	if (code < 0x80) return 1;
	if (code < 0x800) return 2;
	return code < 0x10000 ? 3 : 4;
}

/** Columns count bytes of UTF-8, as Python has them. */
export function indexOfByte(text: string, byte: number): number {
	let at = 0;
	for (let i = 0; i < text.length;) {
		if (at >= byte) return i;
		const code = text.codePointAt(i) ?? 0;
		at += bytesOf(code);
		i += code > 0xffff ? 2 : 1;
	}
	return text.length;
}

export interface CodeParts {
	readonly before: string;
	readonly inside: string;
	readonly after: string;
}

/** Columns from and to (-1: the end of the line) as parts; nothing is inside if it is all of the line. */
export function codeParts(text: string, from: number, to: number): CodeParts {
	const line = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
	const begin = from < 0 ? line.length : indexOfByte(line, from);
	const end = to < 0 ? line.length : Math.max(begin, indexOfByte(line, to));
	const inside = line.slice(begin, end);
	if (from < 0 || inside.trim() === line.trim()) return { before: safe(line), inside: "", after: "" };
	return { before: safe(line.slice(0, begin)), inside: safe(inside), after: safe(line.slice(end)) };
}
