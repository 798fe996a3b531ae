// SPDX-License-Identifier: Apache-2.0
/* Search, and which share of the time what was found takes. */

import type { JSX } from "preact";

import { count, percent } from "../model/numbers";
import type { Page } from "./page";
import { foundLines, toNextMatch } from "./searchSteps";

function found(page: Page): string {
	if (page.state.search === "") return "";
	const { share, error } = page.shown.search();
	if (error !== null) return "not a pattern";
	const file = page.state.view === "source" ? page.shown.sourceFile() : null;
	const lines = file === null ? 0 : foundLines(page, file).length;
	return lines > 0 ? `${count(lines)} lines, ${percent(share)} found` : `${percent(share)} found`;
}

export function SearchBox({ page }: { page: Page }): JSX.Element {
	const { search, regex } = page.state;
	const error = search === "" ? null : page.shown.search().error;
	const onKeyDown = (event: KeyboardEvent): void => {
		if (event.key === "Enter") toNextMatch(page, event.shiftKey ? -1 : 1);
		if (event.key !== "Escape") return;
		event.stopPropagation();
		if (search === "") (event.currentTarget as HTMLElement).blur();
		else page.change({ search: "" });
	};
	return (
		<div class="search" role="search">
			<input
				id="search"
				type="search"
				value={search}
				placeholder={regex ? "Search: regular expression" : "Search functions, files"}
				aria-label="Search functions and files"
				aria-invalid={error !== null}
				title={error ?? "Search (/). Enter: the next one found, Shift+Enter: the one before"}
				autocomplete="off"
				spellcheck={false}
				onInput={(event) => page.change({ search: event.currentTarget.value })}
				onKeyDown={onKeyDown}
			/>
			<button
				type="button"
				class={regex ? "choice chosen mono" : "choice mono"}
				aria-pressed={regex}
				aria-label="Regular expression"
				title="Regular expression"
				onClick={() => page.change({ regex: !regex })}
			>
				.*
			</button>
			<output aria-live="polite">{found(page)}</output>
		</div>
	);
}
