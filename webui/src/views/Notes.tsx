// SPDX-License-Identifier: Apache-2.0
/* What is not seen, and why: nothing is left out without a word. */

import type { JSX } from "preact";

import { count } from "../model/numbers";
import type { Page } from "./page";

function startersOf(n: number): string {
	return `${n === 1 ? "1 function" : `${count(n)} functions`} hidden that only start the program`;
}

function pausesOf(n: number): string | null {
	if (n === 0) return null;
	return n === 1 ? "a pause between recordings is left out" : `${count(n)} pauses between recordings are left out`;
}

function notes(page: Page): string[] {
	const { meta } = page.profile;
	const { state, shown } = page;
	const folded = state.startup ? shown.folded() : 0;
	const idle = shown.idleThreads;
	const found = [
		folded > 0 ? startersOf(folded) : null,
		idle > 0 ? `${count(idle)} idle ${idle === 1 ? "thread" : "threads"} left out` : null,
		meta.filter === null ? null : `made with a filter: ${meta.filter}`,
		meta.untimed ? "the recording has no instants: no timeline" : null,
		pausesOf(meta.pauses ?? 0),
	];
	return found.filter((note) => note !== null);
}

/** What read a profile of another tool says nothing of the version that took it. */
function madeBy({ profile: { meta } }: Page): string {
	if (meta.imported) return `${meta.engine === "" ? "" : `from ${meta.engine}, `}shown by plumb, offline`;
	return `made by plumb${meta.plumb_version === "" ? "" : ` ${meta.plumb_version}`}, offline`;
}

export function Notes({ page }: { page: Page }): JSX.Element {
	const passed = page.shown.samples;
	return (
		<div class="foot">
			<span>{passed === 1 ? "1 sample" : `${count(passed)} samples`} shown</span>
			{notes(page).map((note) => (
				<span key={note}>{note}</span>
			))}
			<span class="foot-made">{madeBy(page)}</span>
		</div>
	);
}
