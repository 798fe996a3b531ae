// SPDX-License-Identifier: Apache-2.0
/* What passes the filters as options of `plumb report`: the same figures on the command line. */

import { doings, origins } from "../data/words";
import type { Filter } from "../model/filter";
import { labelsOf, labelText } from "../model/labels";
import type { Page } from "./page";

const idle: Readonly<Record<Filter["idle"], readonly string[]>> = { hide: [], keep: ["--idle"], skip: ["--skip-idle"] };

/** Within $'...': what a line editor would take for keys that were pressed, and what would end the quotes in shells
 * that do not know this kind. */
const dangerous = /[\p{Cc}'\\]/gu;

function escaped(char: string): string {
	return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Between single quotes fish, alone among shells, has escapes: a quote and a backslash stand between others. */
function requoted(char: string): string {
	return char === "'" ? `'"'"'` : `'"\\\\"'`;
}

/** One word of a shell's line. */
export function quoted(word: string): string {
	if (/\p{Cc}/u.test(word)) return `$'${word.replace(dangerous, escaped)}'`;
	return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/['\\]/g, requoted)}'`;
}

function list(option: string, values: readonly (string | number)[] | null): string[] {
	return values && values.length > 0 ? [option, values.join(",")] : [];
}

function seconds(ns: number): string {
	return String(Number((ns / 1e9).toFixed(9)));
}

/** Whole, whatever was done to the tree: the command line has no words for that. */
export function commandOf({ profile, state, shown }: Page): string {
	const { meta, strings } = profile;
	const { filter, by } = state;
	const time = shown.range && [`${seconds(shown.range[0])}..${seconds(shown.range[1])}`];
	return [
		"plumb",
		"report",
		(meta.recording ?? "FILE").replace(/^-/, "./-"), // no option
		...(by === "line" ? ["--lines"] : []),
		...idle[filter.idle],
		...list("--process", filter.processes && filter.processes.map((id) => meta.processes[id]!.pid)),
		...list("--threads", filter.threads && filter.threads.map((id) => meta.threads[id]!.tid)),
		...list("--time", time),
		...list("--state", doings.filter(({ bit }) => filter.states & bit).map(({ word }) => word)),
		...list("--kind", origins.filter(({ origin }) => filter.kinds & (1 << origin)).map(({ word }) => word)),
		...list("--module", filter.modules.map((id) => strings[id]!)),
		...filter.labels.flatMap((id) => list("--tag", [labelText(labelsOf(meta)[id]!.label)])),
	]
		.map(quoted)
		.join(" ");
}
