// SPDX-License-Identifier: Apache-2.0
/* Everything that chooses which samples count and how they are shown. */

import type { JSX } from "preact";

import { noFilter, type Filter } from "../model/filter";
import { time } from "../model/numbers";
import { FrameFilter } from "./FrameFilter";
import { LabelFilter } from "./LabelFilter";
import type { Page } from "./page";
import { Quick } from "./Quick";
import { SaveMenu } from "./SaveMenu";
import { SearchBox } from "./SearchBox";
import { StateFilter } from "./StateFilter";
import { ThreadFilter } from "./ThreadFilter";

function TimeChip({ page }: { page: Page }): JSX.Element | null {
	const { filter } = page.state;
	const { range } = page.shown;
	if (!range) return null;
	const [from, to] = range;
	return (
		<button
			type="button"
			class="choice chosen"
			title="Count the whole time again"
			aria-label={`Only from ${time(from)} to ${time(to)}: count the whole time again`}
			onClick={() => page.change({ filter: { ...filter, time: null } })}
		>
			{time(from)} to {time(to)} ✕
		</button>
	);
}

/** Where a part of the recording is chosen. */
function WhatDiffers({ page }: { page: Page }): JSX.Element | null {
	const { filter, view } = page.state;
	const isPart = page.shown.range !== null || filter.threads !== null || filter.processes !== null;
	if (!isPart || view === "here") return null;
	return (
		<button type="button" class="link" onClick={() => page.change({ view: "here" })}>
			What differs here?
		</button>
	);
}

function isFiltered({ processes, threads, time, states, idle, kinds, modules, labels }: Filter): boolean {
	const some = processes !== null || threads !== null || time !== null;
	return some || states !== 0 || idle !== noFilter.idle || kinds !== 0 || modules.length + labels.length > 0;
}

export function FilterBar({ page }: { page: Page }): JSX.Element {
	const { state } = page;
	return (
		<section class="bar" aria-label="Filters">
			<SearchBox page={page} />
			<Quick page={page} />
			<ThreadFilter page={page} />
			<StateFilter page={page} />
			<FrameFilter page={page} />
			<LabelFilter page={page} />
			<TimeChip page={page} />
			<WhatDiffers page={page} />
			{isFiltered(state.filter) ? (
				<button type="button" class="link" onClick={() => page.change({ filter: noFilter })}>
					Clear filters
				</button>
			) : null}
			<button
				type="button"
				disabled={page.undo === null}
				title="Undo the last filter, zoom or change of the tree (u)"
				onClick={() => page.undo?.()}
			>
				Undo
			</button>
			<span class="grow" />
			<SaveMenu page={page} />
		</section>
	);
}
