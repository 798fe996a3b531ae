// SPDX-License-Identifier: Apache-2.0
// Everything that is chosen on the page. Immutable; a link holds all of it (url.ts). Layer state.
import type { Filter } from "../model/filter";
import { noFilter } from "../model/filter";
import type { Place } from "../model/tree";
import type { Transform } from "../model/transform";

export const views = [
	"flame", "chart", "sandwich", "functions", "tree", "source", "statistics", "here", "diff",
] as const;
export type View = (typeof views)[number];

export const sortColumns = ["self", "total", "name", "file"] as const;
export type SortColumn = (typeof sortColumns)[number];

/** Of the statistics, by what they list. */
export const tables = ["gil", "locks", "loop-holds", "waits"] as const;
export type Table = (typeof tables)[number];

export interface State {
	readonly view: View;
	/** Of a comparison: which of the two profiles the views show; null in the beginning: the last. */
	readonly profile: number | null;
	readonly filter: Filter;
	/** Start-up frames are folded. */
	readonly startup: boolean;
	readonly transforms: readonly Transform[];
	readonly by: "function" | "line";
	/** What boxes and rows are measured in. */
	readonly unit: "time" | "samples";
	/** Flame graph and call tree begin at the innermost frames. */
	readonly inverted: boolean;
	/** The flame graph grows upwards. */
	readonly flipped: boolean;
	/** What of the flame graph fills its width; null: all. */
	readonly zoom: Place | null;
	/** What of its width is seen, from and to as shares of all of it; null: what `zoom` says. */
	readonly seen: readonly [number, number] | null;
	/** The thread of the stack chart; null: the one that is looked at first. */
	readonly thread: number | null;
	/** The selected function: a row of the function table. */
	readonly selected: number | null;
	/** The box or row of the tree that is selected, if it was selected in one. */
	readonly at: Place | null;
	/** Source view: string id of the file, and line. */
	readonly file: number | null;
	readonly line: number | null;
	/** Statistics: the table that is scrolled to and marked; another object each time that it is asked for. */
	readonly asked: { readonly table: Table } | null;
	readonly search: string;
	readonly regex: boolean;
	readonly sort: { readonly column: SortColumn; readonly descending: boolean };
	/** Comparison: the figure that is coloured and listed, and what the width of a box is. */
	readonly diffFigure: "self" | "total";
	readonly diffWidth: "after" | "both";
	/** The editor that files are opened in (views/editors.ts); "": none is chosen. */
	readonly editor: string;
	/** What its writer says to who opens the link. */
	readonly note: string;
	readonly theme: "system" | "light" | "dark";
}

/** Addresses have to fit into mails. */
export const LONGEST_NOTE = 1000;

export const initialState: State = {
	view: "flame",
	profile: null,
	filter: noFilter,
	startup: true,
	transforms: [],
	by: "function",
	unit: "time",
	inverted: false,
	flipped: false,
	zoom: null,
	seen: null,
	thread: null,
	selected: null,
	at: null,
	file: null,
	line: null,
	asked: null,
	search: "",
	regex: false,
	sort: { column: "self", descending: true },
	diffFigure: "total",
	diffWidth: "after",
	editor: "",
	note: "",
	theme: "system",
};

/** What the width of the flame graph follows from. */
const ground = ["profile", "filter", "startup", "transforms", "by", "unit", "inverted", "zoom"] as const;

/** A part of a width means nothing of another one, a table of one view nothing in another one. */
export function groundedIn(before: State, after: State): State {
	const moved = after.seen === before.seen && ground.some((name) => before[name] !== after[name]);
	const seen = moved ? null : after.seen;
	const asked = after.asked === before.asked && after.view !== before.view ? null : after.asked;
	return seen === after.seen && asked === after.asked ? after : { ...after, seen, asked };
}
