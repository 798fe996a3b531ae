// SPDX-License-Identifier: Apache-2.0
/* What can be done with a function, by menu, by key and by button: one list of it. */

import type { Transform } from "../model/transform";
import { hasTime } from "../model/tree";
import type { State } from "../state/state";
import type { Page } from "./page";

export interface Action {
	readonly name: string;
	readonly key: string;
	/** A thin line above it in menus. */
	readonly apart?: boolean;
	readonly possible: (page: Page, fn: number) => boolean;
	readonly act: (page: Page, fn: number) => void;
}

const always = (): boolean => true;
const isFunction = (page: Page, fn: number): boolean => fn < page.profile.functions.count;
const hasModule = (page: Page, fn: number): boolean =>
	isFunction(page, fn) && page.profile.functions.module[fn] !== 0;
const hasFile = (page: Page, fn: number): boolean => isFunction(page, fn) && page.profile.functions.file[fn] !== 0;

/** What was collapsed or hidden before is in no stack any more. Figures are added up only for what a folded start may
 * hide: of a million stacks that takes too long for a key. */
const isShown = ({ shown }: Page, fn: number): boolean =>
	hasTime(shown.tree(), fn) || (shown.foldedFunctions().includes(fn) && shown.functionFigures(fn).total.value > 0);

function transformed(page: Page, transform: Transform): void {
	page.change((state: State) => ({ ...state, transforms: [...state.transforms, transform], zoom: null }));
}

function moduleOf(page: Page, fn: number): number {
	return page.profile.functions.module[fn];
}

/** At the hottest line of the function. */
export function openSource(page: Page, fn: number): void {
	page.change({ view: "source", file: page.profile.functions.file[fn], line: null, selected: fn });
}

/** Put text where it can be pasted. Pages from disk have no clipboard in some browsers, but can copy a selection. */
export async function copy(page: Page, text: string, what: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
		page.say(`Copied ${what}.`);
	} catch {
		page.say(copySelected(text) ? `Copied ${what}.` : "The browser does not let this page copy.");
	}
}

function copySelected(text: string): boolean {
	const area = document.createElement("textarea");
	area.className = "unseen";
	area.value = text;
	document.body.append(area);
	area.select();
	const done = document.execCommand("copy");
	area.remove();
	return done;
}

export const actions: readonly Action[] = [
	{
		name: "Show callers and callees",
		key: "s",
		possible: always,
		act: (page, fn) => page.change({ view: "sandwich", selected: fn }),
	},
	{ name: "Show source", key: "o", possible: hasFile, act: openSource },
	{
		name: "Focus on the function",
		key: "f",
		apart: true,
		possible: isShown,
		act: (page, fn) => transformed(page, { type: "focus-function", fn }),
	},
	{
		name: "Focus on this call path only",
		key: "F",
		possible: ({ state }, fn) => state.at !== null && state.selected === fn && !state.inverted,
		act: (page) => {
			if (page.state.at) transformed(page, { type: "focus-subtree", base: page.state.at.base });
		},
	},
	{
		name: "Hide it: its time goes to its callers",
		key: "m",
		apart: true,
		possible: always,
		act: (page, fn) => transformed(page, { type: "hide-function", fn }),
	},
	{
		name: "Hide all of its module",
		key: "M",
		possible: hasModule,
		act: (page, fn) => transformed(page, { type: "hide-module", module: moduleOf(page, fn) }),
	},
	{
		name: "Drop samples with it",
		key: "d",
		possible: always,
		act: (page, fn) => transformed(page, { type: "drop-function", fn }),
	},
	{
		name: "Collapse its module",
		key: "c",
		apart: true,
		possible: hasModule,
		act: (page, fn) => transformed(page, { type: "collapse-module", module: moduleOf(page, fn) }),
	},
	{
		name: "Collapse all of its colour (kind of code)",
		key: "C",
		possible: isFunction,
		act: (page, fn) =>
			transformed(page, { type: "collapse-category", category: page.profile.functions.category[fn] }),
	},
	{
		name: "Collapse what it calls",
		key: "x",
		possible: always,
		act: (page, fn) => transformed(page, { type: "collapse-subtree", fn }),
	},
	{
		name: "Fold its recursion",
		key: "r",
		possible: always,
		act: (page, fn) => transformed(page, { type: "fold-recursion", fn }),
	},
	{
		name: "Fold its direct recursion only",
		key: "R",
		possible: always,
		act: (page, fn) => transformed(page, { type: "fold-direct-recursion", fn }),
	},
	{
		name: "Copy name",
		key: "y",
		apart: true,
		possible: always,
		act: (page, fn) => void copy(page, page.names.full(fn), "the name"),
	},
];
