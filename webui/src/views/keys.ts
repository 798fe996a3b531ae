// SPDX-License-Identifier: Apache-2.0
/* Keys of the whole page. Parts of it take theirs first and mark them as taken. */

import { actions } from "./actions";
import { copyMarkdown } from "./copyMarkdown";
import type { Page } from "./page";
import { tabsOf } from "./Tabs";

interface Commands {
	readonly undo: () => void;
	readonly redo: () => void;
	readonly help: () => void;
}

function isTyping(target: EventTarget | null): boolean {
	return target instanceof HTMLElement && target.closest("input, select, textarea, dialog") !== null;
}

function onUndoKey(event: KeyboardEvent, commands: Commands): boolean {
	const key = event.key.toLowerCase();
	if (key === "z" && !event.shiftKey) commands.undo();
	else if (key === "y" || key === "z") commands.redo();
	else return false;
	return true;
}

/** What is on or off is taken of the state that is chosen: what is shown may be the one before, for a moment. */
function onViewKey(key: string, page: Page): boolean {
	const { state, change } = page;
	const tab = tabsOf(page)[Number(key) - 1];
	if (tab) change({ view: tab.view });
	else if (key === "l") change((now) => ({ ...now, by: now.by === "line" ? "function" : "line", zoom: null }));
	else if (key === "t" && !page.profile.meta.counted) {
		change((now) => ({ ...now, unit: now.unit === "time" ? "samples" : "time" }));
	} else if (key === "i") change((now) => ({ ...now, inverted: !now.inverted, zoom: null }));
	else if (key === "b") change((now) => ({ ...now, flipped: !now.flipped }));
	else if (key === "Y") copyMarkdown(page);
	else if (key === "Escape" && state.selected !== null) change({ selected: null, at: null });
	else return false;
	return true;
}

function onFunctionKey(key: string, page: Page): boolean {
	const { selected } = page.state;
	const action = actions.find((one) => one.key === key);
	if (!action || selected === null) return false;
	if (action.possible(page, selected)) action.act(page, selected);
	else page.say("That cannot be done with the selected function, as the tree is now.");
	return true;
}

function onPlainKey(event: KeyboardEvent, page: Page, commands: Commands): boolean {
	if (event.key === "/") document.getElementById("search")?.focus();
	else if (event.key === "?") commands.help();
	else if (event.key === "u") commands.undo();
	else return onViewKey(event.key, page) || onFunctionKey(event.key, page);
	return true;
}

export function onPageKey(event: KeyboardEvent, page: Page, commands: Commands): void {
	if (event.defaultPrevented || event.altKey || isTyping(event.target)) return;
	const taken = event.ctrlKey || event.metaKey ? onUndoKey(event, commands) : onPlainKey(event, page, commands);
	if (taken) event.preventDefault();
}
