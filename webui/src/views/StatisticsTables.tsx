// SPDX-License-Identifier: Apache-2.0
/* Threads and processes one by one. */

import type { JSX } from "preact";

import { count, percent, time } from "../model/numbers";
import type { StateName, Statistics, ThreadFigures } from "../model/statistics";
import type { Page } from "./page";
import { brief } from "./text";
import { threadName } from "./ThreadFilter";

interface Props {
	page: Page;
	statistics: Statistics;
}

/** More than that nobody reads; all of them are in the filter. */
const MOST = 200;

const columns: readonly (readonly [StateName, string])[] = [
	["onCpu", "Running or ready"],
	["waiting", "Waiting"],
	["hasGil", "Holds GIL"],
	["wantsGil", "Waits for GIL"],
	["inGc", "GC"],
	["exception", "Exception"],
];

function More({ all }: { all: number }): JSX.Element | null {
	return all > MOST ? <p class="muted">{count(all - MOST)} more are not listed.</p> : null;
}

interface RowProps {
	page: Page;
	figures: ThreadFigures;
	knowsCpuTime: boolean;
}

function ThreadRow({ page, figures, knowsCpuTime }: RowProps): JSX.Element {
	const { filter } = page.state;
	const thread = page.profile.meta.threads[figures.thread];
	const name = brief(threadName(page.profile, thread), 80);
	return (
		<tr>
			<th scope="row">
				<button
					type="button"
					class="link name"
					title="Count only this thread"
					onClick={() => page.change({ filter: { ...filter, threads: [figures.thread] } })}
				>
					{name}
				</button>
			</th>
			<td>{count(figures.samples)}</td>
			{columns.map(([state]) => (
				<td key={state}>{percent(figures.states[state])}</td>
			))}
			<td>{thread.cpu_ns === null || !knowsCpuTime ? "" : time(thread.cpu_ns)}</td>
		</tr>
	);
}

export function ThreadTable({ page, statistics }: Props): JSX.Element {
	const { threads, knowsCpuTime } = statistics;
	return (
		<section>
			<h2>Threads, of the time of each</h2>
			<div class="table-box" tabIndex={0} role="region" aria-label="Threads">
				<table>
					<thead>
						<tr>
							<th scope="col">Thread</th>
							<th scope="col">Samples</th>
							{columns.map(([state, title]) => (
								<th scope="col" key={state}>
									{title}
								</th>
							))}
							<th scope="col">CPU time</th>
						</tr>
					</thead>
					<tbody>
						{threads.slice(0, MOST).map((figures) => (
							<ThreadRow
								key={figures.thread}
								page={page}
								figures={figures}
								knowsCpuTime={knowsCpuTime}
							/>
						))}
					</tbody>
				</table>
			</div>
			<More all={threads.length} />
		</section>
	);
}

export function ProcessTable({ page, statistics }: Props): JSX.Element | null {
	const { processes } = statistics;
	const { meta } = page.profile;
	if (meta.processes.length < 2) return null;
	return (
		<section>
			<h2>Processes</h2>
			<div class="table-box" tabIndex={0} role="region" aria-label="Processes">
				<table>
					<thead>
						<tr>
							<th scope="col">Process</th>
							<th scope="col">Samples</th>
							<th scope="col">Share</th>
							<th scope="col">Threads</th>
							<th scope="col">Python</th>
						</tr>
					</thead>
					<tbody>
						{processes.slice(0, MOST).map(({ process, samples, weightNs, threads }) => (
							<tr key={process}>
								<th scope="row">
									{brief(meta.processes[process].name, 80)} {meta.processes[process].pid}
								</th>
								<td>{count(samples)}</td>
								<td>{percent(weightNs / Math.max(1, statistics.weightNs))}</td>
								<td>{count(threads)}</td>
								<td>{brief(meta.processes[process].python, 40)}</td>
							</tr>
						))}
					</tbody>
				</table>
			</div>
			<More all={processes.length} />
		</section>
	);
}
