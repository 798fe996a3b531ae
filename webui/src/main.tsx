// SPDX-License-Identifier: Apache-2.0
/* Begin: read the data inside the page, show it, and keep the address and what is chosen the same. */

import { render } from "preact";

import { otherTasks, pageSource } from "./data/file";
import { createDerived } from "./state/derived";
import type { State } from "./state/state";
import { createStore, type Store } from "./state/store";
import { fromHash, toHash } from "./state/url";
import type { Report } from "./data/profile";
import { App } from "./views/App";
import { embedded } from "./views/embedded";
import { inSlices } from "./views/inSlices";

/** What the button "back" goes back to; the rest changes too often for that. */
function isPlace(before: State, after: State): boolean {
	return (
		before.view !== after.view ||
		before.filter !== after.filter ||
		before.transforms !== after.transforms ||
		before.by !== after.by ||
		before.startup !== after.startup ||
		before.inverted !== after.inverted ||
		before.zoom !== after.zoom ||
		before.seen !== after.seen ||
		before.file !== after.file ||
		before.profile !== after.profile
	);
}

/** Browsers stop pages that change their address too often: typing and dragging wait until they rest. */
const REST_MS = 250;

function keepAddress(store: Store, report: Report): void {
	if (embedded()) return;
	let written = store.state();
	let timer = 0;
	const write = (): void => {
		const now = store.state();
		const hash = `#${toHash(now)}`;
		if (hash !== location.hash) {
			if (isPlace(written, now)) history.pushState(null, "", hash);
			else history.replaceState(null, "", hash);
		}
		written = now;
	};
	store.subscribe(() => {
		clearTimeout(timer);
		timer = window.setTimeout(write, REST_MS);
	});
	window.addEventListener("popstate", () => {
		clearTimeout(timer);
		const there = beginning(report);
		written = there;
		store.replace(there);
	});
}

/** What the link says; without one a comparison begins with what changed. */
function beginning(report: Report): State {
	const state = fromHash(location.hash, report);
	return report.diff && location.hash.length < 2 ? { ...state, view: "diff" } : state;
}

function trouble(error: unknown): void {
	const place = document.getElementById("page");
	if (!place) return;
	const text = document.createElement("p");
	text.className = "trouble";
	text.setAttribute("role", "alert");
	text.textContent = error instanceof Error ? error.message : String(error);
	place.replaceChildren(text);
}

async function begin(): Promise<void> {
	const page = document.getElementById("page");
	if (!page) return;
	const report = await pageSource(document).load();
	const store = createStore(beginning(report));
	const shownOf = createDerived(report);
	await new Promise<void>((done) => void inSlices(shownOf(store.state()).ahead(), done));
	await otherTasks();
	keepAddress(store, report);
	document.title = `${report.profiles[0]?.meta.processes[0]?.name.slice(0, 100) ?? ""} · plumb`;
	page.replaceChildren();
	render(<App report={report} store={store} shownOf={shownOf} />, page);
}

begin().catch(trouble);
