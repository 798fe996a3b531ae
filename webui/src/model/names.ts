// SPDX-License-Identifier: Apache-2.0
// What functions and places are called, and how text of the program is shown: it can hold anything. Layer model; pure.
import type { Profile } from "../data/profile";
import { Origin } from "../data/profile";

// As the text report (src/export/glyph.c): controls, invisible characters, line separators, what turns the direction of
// text around, private use.
const unprintable = new RegExp(
	"[\\0-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ud800-\\uf8ff\\ufeff" +
		"\\ufff0-\\ufffb\\ufffe\\uffff\\u{e0000}-\\u{e00ff}\\u{f0000}-\\u{10ffff}]",
	"gu",
);

function escape(character: string): string {
	const c = character.codePointAt(0)!;
	if (c === 10) return "\\n";
	if (c === 13) return "\\r";
	if (c === 9) return "\\t";
	const digits = c > 0xffff ? 8 : c > 0xff ? 4 : 2;
	return `\\${{ 2: "x", 4: "u", 8: "U" }[digits]}${c.toString(16).padStart(digits, "0")}`;
}

/** Nothing in it is invisible, a line break, or turns the text around. */
export function display(text: string): string {
	return text.replace(unprintable, escape);
}

/** At most `length` characters, the last one a mark that something is missing. Characters are not split. */
export function cut(text: string, length: number): string {
	if (text.length <= length) return text;
	const end = length - 1;
	const split = /[\ud800-\udbff]/.test(text.charAt(end - 1));
	return `${text.slice(0, split ? end - 1 : end)}…`;
}

/** What follows the last '/', with the folder for files whose name says nothing: "json/__init__.py". */
export function shortPath(path: string): string {
	const parts = path.split("/");
	const base = parts[parts.length - 1]!;
	const silent = (base === "__init__.py" || base === "__main__.py") && parts.length > 1;
	return silent ? `${parts[parts.length - 2]!}/${base}` : base;
}

/** Of a row that is a line: nobody knows which. */
export const unknownLine = -1;

/** Texts as they are in the profile; whoever draws them sends them through `display`. */
export interface Names {
	/** Name without what it is in: "get" of "Session.get". */
	short(fn: number): string;
	/** Qualified name. */
	full(fn: number): string;
	/** Whole path; "" if there is none. */
	file(fn: number): string;
	module(fn: number): string;
	/** "app.py:12"; without a line, or with 0, where the function begins. "app.py" if no line is known, or
	 * `unknownLine` is given; "" for what is in no file. */
	place(fn: number, line?: number): string;
	/** "Session.get app.py:12": what one function is told from others by. */
	label(fn: number, line?: number): string;
	category(fn: number): string;
}

function hasFile(profile: Profile, fn: number, file: string): boolean {
	return file !== "" && file !== "~" && profile.functions.origin[fn] !== Origin.marker;
}

export function names(profile: Profile): Names {
	const { functions: f, strings, meta } = profile;
	const file = (fn: number) => strings[f.file[fn]!]!;
	const full = (fn: number) => strings[f.qualname[fn]! || f.name[fn]!]!;
	const place = (fn: number, line = 0) => {
		if (!hasFile(profile, fn, file(fn))) return "";
		const at = line === 0 ? f.line[fn]! : line;
		return at > 0 ? `${shortPath(file(fn))}:${String(at)}` : shortPath(file(fn));
	};
	return {
		short: (fn) => strings[f.name[fn]!]!,
		full,
		file,
		module: (fn) => strings[f.module[fn]!]!,
		place,
		label: (fn, line = 0) => [full(fn), place(fn, line)].filter((text) => text !== "").join(" "),
		category: (fn) => meta.categories[f.category[fn]!]?.name ?? "",
	};
}
