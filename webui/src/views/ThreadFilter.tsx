// SPDX-License-Identifier: Apache-2.0
/* Which processes and threads count. */

import type { JSX } from "preact";

import type { Profile, Thread } from "../data/profile";
import { count, percent } from "../model/numbers";
import { parentsFirst } from "../model/processes";
import type { Page } from "./page";
import { PickList, type Pick } from "./PickList";
import { Popover } from "./Popover";

function shareOf(samples: number, part: number): string {
	return samples === 0 ? "no samples" : percent(part / samples);
}

export function threadName(profile: Profile, thread: Thread): string {
	const name = thread.name === "" ? `thread ${thread.tid}` : `${thread.name} (${thread.tid})`;
	const process = profile.meta.processes[thread.process];
	return profile.meta.processes.length > 1 && process ? `${process.name} ${process.pid}: ${name}` : name;
}

/** Those that computed most first, then those that were there most; the idle ones last. */
export function threadsInOrder(threads: readonly Thread[]): number[] {
	const ids = threads.map((_, i) => i);
	return ids.sort((a, b) => {
		const [x, y] = [threads[a], threads[b]];
		return Number(x.idle) - Number(y.idle) || y.on_cpu - x.on_cpu || y.samples - x.samples || a - b;
	});
}

function threadPicks(profile: Profile): Pick[] {
	const { threads } = profile.meta;
	return threadsInOrder(threads).map((id) => ({
		id,
		text: threadName(profile, threads[id]),
		detail: threads[id].idle ? "idle" : `${shareOf(threads[id].samples, threads[id].on_cpu)} on CPU`,
	}));
}

function processPicks(profile: Profile): Pick[] {
	const { processes } = profile.meta;
	return parentsFirst(processes, processes.map((_, id) => id)).map((id) => ({
		id,
		text: `${processes[id].name} ${processes[id].pid}`,
		detail: `${count(processes[id].samples)} samples`,
	}));
}

function label(page: Page): string {
	const { processes, threads } = page.state.filter;
	const parts: string[] = [];
	if (processes) parts.push(processes.length === 1 ? "1 process" : `${processes.length} processes`);
	if (threads) parts.push(threads.length === 1 ? "1 thread" : `${threads.length} threads`);
	return parts.length === 0 ? "All threads" : parts.join(", ");
}

export function ThreadFilter({ page }: { page: Page }): JSX.Element {
	const { state, profile } = page;
	const { processes, threads } = state.filter;
	const idle = profile.meta.threads.filter((thread) => thread.idle).length;
	const choose = (part: "processes" | "threads", ids: readonly number[]): void =>
		page.change({ filter: { ...state.filter, [part]: ids.length === 0 ? null : ids } });
	return (
		<Popover
			label={label(page)}
			title="Processes and threads that count"
			chosen={processes !== null || threads !== null}
		>
			{() => (
				<>
					{profile.meta.processes.length > 1 ? (
						<PickList
							title="Processes"
							all="All processes"
							picks={processPicks(profile)}
							chosen={processes ?? []}
							onChoose={(ids) => choose("processes", ids)}
						/>
					) : null}
					<PickList
						title={idle > 0 ? `Threads (${idle} did nothing all along)` : "Threads"}
						all={state.filter.idle === "hide" && idle > 0 ? "All that did something" : "All threads"}
						picks={threadPicks(profile)}
						chosen={threads ?? []}
						onChoose={(ids) => choose("threads", ids)}
					/>
				</>
			)}
		</Popover>
	);
}
