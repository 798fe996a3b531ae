// SPDX-License-Identifier: Apache-2.0
/* Which frames are shown, and samples of which modules count. */

import type { JSX } from "preact";

import type { Profile } from "../data/profile";
import { origins } from "../data/words";
import type { Filter } from "../model/filter";
import type { Page } from "./page";
import { PickList, type Pick } from "./PickList";
import { Popover } from "./Popover";

/** Kinds of frames that the profile has; `Origin` bits. */
function kindsThere(profile: Profile): number {
	const { origin, count } = profile.functions;
	let set = 0;
	for (let fn = 0; fn < count; fn++) set |= 1 << origin[fn];
	return set;
}

/** Modules, the most used first. */
function modulePicks(profile: Profile): Pick[] {
	const { module, count } = profile.functions;
	const used = new Map<number, number>();
	for (let fn = 0; fn < count; fn++) {
		if (module[fn] !== 0) used.set(module[fn], (used.get(module[fn]) ?? 0) + 1);
	}
	return [...used].map(([id, functions]) => ({
		id,
		text: profile.strings[id],
		detail: functions === 1 ? "1 function" : `${functions} functions`,
	}));
}

function Kinds({ page }: { page: Page }): JSX.Element {
	const { filter } = page.state;
	const there = kindsThere(page.profile);
	const shown = filter.kinds === 0 ? there : filter.kinds;
	const toggle = (bit: number): void => {
		const kinds = shown ^ bit;
		if (kinds & there) page.change({ filter: { ...filter, kinds: (kinds & there) === there ? 0 : kinds } });
	};
	return (
		<fieldset class="picks">
			<legend>Frames to show</legend>
			{origins
				.filter(({ origin }) => there & (1 << origin))
				.map(({ origin, text }) => (
					<label class="tick" key={origin}>
						<input
							type="checkbox"
							checked={(shown & (1 << origin)) !== 0}
							onChange={() => toggle(1 << origin)}
						/>
						<span>{text}</span>
					</label>
				))}
		</fieldset>
	);
}

function Folding({ page }: { page: Page }): JSX.Element {
	const { state } = page;
	const folded = state.transforms.some((one) => one.type === "fold-direct-recursion" && one.fn === -1);
	const others = state.transforms.filter((one) => one.type !== "fold-direct-recursion" || one.fn !== -1);
	return (
		<fieldset class="picks">
			<legend>Fold</legend>
			<label class="tick">
				<input
					type="checkbox"
					checked={state.startup}
					onChange={() => page.change({ startup: !state.startup, zoom: null })}
				/>
				<span>Start-up frames (runpy, import machinery, thread starts, notebooks)</span>
			</label>
			<label class="tick">
				<input
					type="checkbox"
					checked={folded}
					onChange={() =>
						page.change({
							transforms: folded ? others : [...others, { type: "fold-direct-recursion", fn: -1 }],
							zoom: null,
						})
					}
				/>
				<span>Direct recursion of all functions</span>
			</label>
		</fieldset>
	);
}

export function FrameFilter({ page }: { page: Page }): JSX.Element {
	const { filter, startup } = page.state;
	const chosen = filter.kinds !== 0 || filter.modules.length > 0 || !startup;
	const set = (change: Partial<Filter>): void => page.change({ filter: { ...filter, ...change } });
	return (
		<Popover
			label={chosen ? "Some frames" : "All frames"}
			title="Kinds of frames, folding, modules"
			chosen={chosen}
		>
			{() => (
				<>
					<Kinds page={page} />
					<Folding page={page} />
					<PickList
						title="Only samples with a frame of"
						all="Any module"
						picks={modulePicks(page.profile)}
						chosen={filter.modules}
						onChoose={(modules) => set({ modules })}
					/>
				</>
			)}
		</Popover>
	);
}
