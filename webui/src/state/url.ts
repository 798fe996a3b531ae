// SPDX-License-Identifier: Apache-2.0
// The whole state as the hash of the address, and back: `key=value&...` with what differs from the beginning. What is
// wrong or out of range in it is left out, so that an old or mangled link still opens. Layer state; no DOM.
import type { Profile, Report } from "../data/profile";
import { doings } from "../data/words";
import type { Filter } from "../model/filter";
import { labelsOf } from "../model/labels";
import type { Transform } from "../model/transform";
import type { Place } from "../model/tree";
import { profileOf } from "./derived";
import { initialState, LONGEST_NOTE, sortColumns, type State, tables, views } from "./state";

const allDoings = doings.reduce((all, { bit }) => all | bit, 0);

/** One letter a transform, then its number. */
const letters = {
	f: ["focus-function", "fn"],
	s: ["focus-subtree", "base"],
	h: ["hide-function", "fn"],
	m: ["hide-module", "module"],
	o: ["only-category", "category"],
	d: ["drop-function", "fn"],
	c: ["collapse-module", "module"],
	k: ["collapse-category", "category"],
	b: ["collapse-subtree", "fn"],
	r: ["fold-direct-recursion", "fn"],
	q: ["fold-recursion", "fn"],
} as const;

function numberOf(t: Transform): number {
	if ("fn" in t) return t.fn;
	if ("base" in t) return t.base;
	return "module" in t ? t.module : t.category;
}

function writeTransform(t: Transform): string {
	const letter = Object.entries(letters).find(([, [type]]) => type === t.type)![0];
	return `${letter}${String(numberOf(t))}`;
}

/** How many there are of what a transform names. */
function limitOf(profile: Profile, name: string): number {
	const limits: Record<string, number> = {
		fn: profile.functions.rows,
		base: profile.tree.places,
		module: profile.strings.length,
		category: profile.meta.categories.length,
	};
	return limits[name] ?? 0;
}

function index(text: string | undefined, limit: number): number | null {
	if (text === undefined || !/^\d{1,15}$/.test(text)) return null;
	const n = Number(text);
	return n < limit ? n : null;
}

function readTransform(profile: Profile, text: string): Transform | null {
	const found = Object.entries(letters).find(([letter]) => letter === text[0]);
	if (!found) return null;
	const [type, name] = found[1];
	// Recursion can be folded of all functions.
	const anyFunction = type === "fold-direct-recursion" && text.slice(1) === "-1";
	const n = anyFunction ? -1 : index(text.slice(1), limitOf(profile, name));
	return n === null ? null : ({ type, [name]: n } as unknown as Transform);
}

function writePlace(place: Place | null): string {
	return place ? `${String(place.base)}.${String(place.depth)}` : "";
}

function readPlace(profile: Profile, text: string | undefined): Place | null {
	const [first, second] = (text ?? "").split(".");
	const base = index(first, profile.tree.places);
	const depth = index(second, 2 ** 31);
	return base === null || depth === null ? null : { base, depth };
}

function writeList(list: readonly number[] | null): string {
	return list ? list.join(".") || "none" : "";
}

function readList(text: string | undefined, limit: number): number[] | null {
	if (text === undefined) return null;
	const found = text.split(".").map((one) => index(one, limit));
	const good = found.filter((n): n is number => n !== null);
	return good.length > 0 || text === "none" ? good : null;
}

function writeFilter(f: Filter): [string, string][] {
	return [
		["pr", writeList(f.processes)],
		["th", writeList(f.threads)],
		["t", f.time ? f.time.map((ns) => Math.round(ns)).join("-") : ""],
		["st", f.states ? String(f.states) : ""],
		["k", f.kinds ? String(f.kinds) : ""],
		["m", f.modules.length ? writeList(f.modules) : ""],
		["tg", f.labels.length ? writeList(f.labels) : ""],
		["i", f.idle === "hide" ? "" : f.idle],
	];
}

function readSpan(text: string | undefined, limit: number): readonly [number, number] | null {
	const [first, second] = (text ?? "").split("-");
	const from = index(first, limit);
	const to = index(second, limit);
	return from === null || to === null || to <= from ? null : [from, to];
}

function readFilter(profile: Profile, at: ReadonlyMap<string, string>): Filter {
	const idle = at.get("i");
	return {
		processes: readList(at.get("pr"), profile.meta.processes.length),
		threads: readList(at.get("th"), profile.meta.threads.length),
		time: readSpan(at.get("t"), 2 ** 53),
		states: index(at.get("st"), allDoings + 1) ?? 0,
		kinds: index(at.get("k"), 32) ?? 0,
		modules: readList(at.get("m"), profile.strings.length) ?? [],
		labels: readList(at.get("tg"), labelsOf(profile.meta).length) ?? [],
		idle: idle === "keep" || idle === "skip" ? idle : "hide",
	};
}

/** Shares are told in so many parts of the whole. */
const whole = 1e12;

function readSeen(text: string | undefined): State["seen"] {
	const span = readSpan(text, whole + 1);
	return span && [span[0] / whole, span[1] / whole];
}

function optional(n: number | null): string {
	return n === null ? "" : String(n);
}

function encoded(text: string): string {
	return encodeURIComponent(text.replace(/\p{Cs}/gu, "\ufffd"));
}

function flag(on: boolean): string {
	return on ? "1" : "";
}

export function toHash(state: State): string {
	const { sort } = state;
	const sorted = sort.column === initialState.sort.column && sort.descending === initialState.sort.descending;
	const all: [string, string][] = [
		// Always there: a page without a hash begins as its recording was asked for, and this one need not.
		["v", state.view],
		["p", optional(state.profile)],
		...writeFilter(state.filter),
		["su", flag(!state.startup)],
		["x", state.transforms.map(writeTransform).join("_")],
		["by", state.by === "line" ? "line" : ""],
		["u", state.unit === "samples" ? "samples" : ""],
		["inv", flag(state.inverted)],
		["up", flag(state.flipped)],
		["z", writePlace(state.zoom)],
		["w", state.seen ? state.seen.map((share) => Math.round(share * whole)).join("-") : ""],
		["ct", optional(state.thread)],
		["f", optional(state.selected)],
		["at", writePlace(state.at)],
		["file", optional(state.file)],
		["l", optional(state.line)],
		["tb", state.asked?.table ?? ""],
		["q", encoded(state.search)],
		["re", flag(state.regex)],
		["o", sorted ? "" : `${sort.column}${sort.descending ? "" : "-up"}`],
		["df", state.diffFigure === "self" ? "self" : ""],
		["dw", state.diffWidth === "both" ? "both" : ""],
		["ed", state.editor],
		["n", encoded(state.note)],
		["theme", state.theme === "system" ? "" : state.theme],
	];
	return all
		.filter(([, value]) => value !== "")
		.map(([key, value]) => `${key}=${value}`)
		.join("&");
}

function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return "";
	}
}

function readSort(text: string | undefined): State["sort"] {
	const column = sortColumns.find((name) => text === name || text === `${name}-up`);
	return column ? { column, descending: text === column } : initialState.sort;
}

function readAsked(text: string | undefined): State["asked"] {
	const table = tables.find((name) => name === text);
	return table ? { table } : null;
}

function readTransforms(profile: Profile, text: string | undefined): Transform[] {
	const found = text ? text.split("_").map((one) => readTransform(profile, one)) : [];
	return found.filter((t): t is Transform => t !== null);
}

/** As the page was made: `report --idle --lines --html`. */
function beginning(report: Report): State {
	const { idle, lines } = profileOf(report, initialState).meta;
	const words = { "hide-threads": "hide", keep: "keep", "skip-samples": "skip" } as const;
	const filter = { ...initialState.filter, idle: idle ? words[idle] : initialState.filter.idle };
	return { ...initialState, filter, by: lines ? "line" : "function" };
}

/** `hash` with or without its '#'. */
export function fromHash(hash: string, report: Report): State {
	if (hash === "" || hash === "#") return beginning(report);
	const pairs = hash.replace(/^#/, "").split("&").map((pair) => /^([a-z]+)=(.*)$/s.exec(pair));
	const at = new Map(pairs.flatMap((pair) => (pair ? [[pair[1]!, pair[2]!] as const] : [])));
	const number = index(at.get("p"), report.profiles.length);
	const profile = profileOf(report, { ...initialState, profile: number });
	const theme = at.get("theme");
	return {
		view: views.find((view) => view === at.get("v")) ?? initialState.view,
		profile: number,
		filter: readFilter(profile, at),
		startup: !at.has("su"),
		transforms: readTransforms(profile, at.get("x")),
		by: at.get("by") === "line" ? "line" : "function",
		unit: at.get("u") === "samples" ? "samples" : "time",
		inverted: at.has("inv"),
		flipped: at.has("up"),
		zoom: readPlace(profile, at.get("z")),
		seen: readSeen(at.get("w")),
		thread: index(at.get("ct"), profile.meta.threads.length),
		selected: index(at.get("f"), profile.functions.rows),
		at: readPlace(profile, at.get("at")),
		file: index(at.get("file"), profile.strings.length),
		line: index(at.get("l"), 2 ** 31),
		asked: readAsked(at.get("tb")),
		search: decoded(at.get("q") ?? ""),
		regex: at.has("re"),
		sort: readSort(at.get("o")),
		diffFigure: at.get("df") === "self" ? "self" : "total",
		diffWidth: at.get("dw") === "both" ? "both" : "after",
		editor: /^[a-z]{0,20}$/.exec(at.get("ed") ?? "")?.[0] ?? "",
		note: decoded(at.get("n") ?? "").slice(0, LONGEST_NOTE),
		theme: theme === "light" || theme === "dark" ? theme : "system",
	};
}
