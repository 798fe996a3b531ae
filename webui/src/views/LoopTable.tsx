// SPDX-License-Identifier: Apache-2.0
/* For how long event loops were held, by which functions, and when: each of the longest leads to its range of time. */

import type { JSX } from "preact";

import type { LoopHold, LoopHolds, LoopPlace, Profile } from "../data/profile";
import { noFilter } from "../model/filter";
import { count, time } from "../model/numbers";
import type { State } from "../state/state";
import { FigureSection, FigureTable, PlaceCell } from "./FigureTable";
import { FunctionLink } from "./FunctionLink";
import type { Page } from "./page";
import { brief } from "./text";
import { threadName } from "./ThreadFilter";

const MOST_HOLDERS = 10;
const MOST_HOLDS = 20;
const TITLE = "What held the event loop";

function threadOf({ meta }: Profile, { pid, tid }: LoopHold): number {
	return meta.threads.findIndex((thread) => thread.pid === pid && thread.tid === tid);
}

/** The stretch of its thread, with the function that held the loop selected. */
export function stretchOf(profile: Profile, hold: LoopHold): Partial<State> {
	const thread = threadOf(profile, hold);
	const range = [hold.begin_ns, hold.begin_ns + hold.length_ns] as const;
	const threads = thread < 0 ? null : [thread];
	const chosen = { selected: hold.function ?? null, at: null, zoom: null, seen: null };
	return { view: "flame", filter: { ...noFilter, time: range, threads }, transforms: [], inverted: false, ...chosen };
}

function Named({ page, place }: { page: Page; place: LoopPlace }): JSX.Element {
	const fn = place.function ?? null;
	if (fn === null || fn >= page.profile.functions.count) return <>{brief(place.name, 80)}</>;
	return <FunctionLink page={page} fn={fn} />;
}

function Holders({ page, holds }: { page: Page; holds: LoopHolds }): JSX.Element {
	return (
		<FigureTable label={TITLE} columns={["Function", "Times", "In all", "Longest", { words: "Place" }]}>
			{holds.holders.slice(0, MOST_HOLDERS).map((holder, i) => (
				<tr key={i}>
					<th scope="row">
						<Named page={page} place={holder} />
					</th>
					<td>{count(holder.count)}</td>
					<td>{time(holder.held_ns)}</td>
					<td>{time(holder.longest_ns)}</td>
					<PlaceCell place={holder} />
				</tr>
			))}
		</FigureTable>
	);
}

function Hold({ page, hold }: { page: Page; hold: LoopHold }): JSX.Element {
	const { profile } = page;
	const thread = threadOf(profile, hold);
	return (
		<tr>
			<th scope="row">
				<button
					type="button"
					class="link"
					title="Show this stretch of time"
					onClick={() => page.change(stretchOf(profile, hold))}
				>
					{time(hold.length_ns)}
				</button>
			</th>
			<td>{time(hold.begin_ns)}</td>
			<td>{hold.without_cpu_ns > 0 ? time(hold.without_cpu_ns) : ""}</td>
			<td class="left">
				<Named page={page} place={hold} />
			</td>
			<td class="left">{thread < 0 ? "" : brief(threadName(profile, profile.meta.threads[thread]), 40)}</td>
		</tr>
	);
}

const STRETCH = ["Longest", "At", "Without a CPU", { words: "Held by" }, { words: "Thread" }];

function Longest({ page, holds }: { page: Page; holds: LoopHolds }): JSX.Element {
	return (
		<FigureTable label="The longest stretches" columns={STRETCH}>
			{holds.longest.slice(0, MOST_HOLDS).map((hold, i) => (
				<Hold key={i} page={page} hold={hold} />
			))}
		</FigureTable>
	);
}

function about({ count: times, held_ns, least_ns, gap_ns }: LoopHolds): string {
	const all = `${count(times)} times for ${time(least_ns)} or more, ${time(held_ns)} in all`;
	const how = "in each of these stretches every sample was in the same callback or task: whoever came waited";
	const limit = "Whether it was one step or several without a pause samples cannot tell";
	return `${all}: ${how}. Lengths are known to ±${time(gap_ns)}. ${limit}. Filters of the page do not apply.`;
}

export function LoopTable({ page }: { page: Page }): JSX.Element | null {
	const holds = page.profile.meta.loop_holds;
	if (!holds) return null;
	return (
		<FigureSection page={page} table="loop-holds" title={TITLE} about={about(holds)}>
			<Holders page={page} holds={holds} />
			<Longest page={page} holds={holds} />
		</FigureSection>
	);
}
