// SPDX-License-Identifier: Apache-2.0
/* Threads and processes one by one. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

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

/** What a table is sorted by: a column, the largest first or last; null: as it was made. */
type Order = { readonly column: string; readonly down: boolean } | null;

interface HeadProps {
	column: string;
	order: Order;
	onOrder: (order: Order) => void;
}

/** Numbers are wanted from the largest down, and by a second click from the smallest up. */
function SortedHead({ column, order, onOrder }: HeadProps): JSX.Element {
	const down = order?.column === column ? order.down : null;
	const sort = down === null ? "none" : down ? "descending" : "ascending";
	return (
		<th scope="col" aria-sort={sort}>
			<button type="button" class="sorter" onClick={() => onOrder({ column, down: down !== true })}>
				{column}
				<span aria-hidden="true">{down === null ? "" : down ? " ↓" : " ↑"}</span>
			</button>
		</th>
	);
}

export type Values<T> = Readonly<Record<string, (row: T) => number>>;

/** Rows of equal value stay as they were. */
export function inOrder<T>(rows: readonly T[], values: Values<T>, order: Order): readonly T[] {
	const value = order && values[order.column];
	if (!value) return rows;
	const sign = order.down ? -1 : 1;
	return [...rows].sort((a, b) => sign * (value(a) - value(b)));
}

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
				<td key={state}>{figures.states.unknown === 1 ? "not known" : percent(figures.states[state])}</td>
			))}
			<td>{thread.cpu_ns === null || !knowsCpuTime ? "" : time(thread.cpu_ns)}</td>
		</tr>
	);
}

/** By column. */
function valuesOfThreads({ profile }: Page): Values<ThreadFigures> {
	const states = columns.map(([state, title]) => [title, (row: ThreadFigures) => row.states[state]] as const);
	return {
		Samples: (row) => row.samples,
		...Object.fromEntries(states),
		"CPU time": ({ thread }) => profile.meta.threads[thread].cpu_ns ?? 0,
	};
}

export function ThreadTable({ page, statistics }: Props): JSX.Element {
	const { threads, knowsCpuTime } = statistics;
	const [order, setOrder] = useState<Order>(null);
	const values = useMemo(() => valuesOfThreads(page), [page.profile]);
	const sorted = useMemo(() => inOrder(threads, values, order), [threads, values, order]);
	return (
		<section>
			<h2>Threads, of the time of each</h2>
			<div class="table-box" tabIndex={0} role="region" aria-label="Threads">
				<table>
					<thead>
						<tr>
							<th scope="col">Thread</th>
							{Object.keys(values).map((column) => (
								<SortedHead key={column} column={column} order={order} onOrder={setOrder} />
							))}
						</tr>
					</thead>
					<tbody>
						{sorted.slice(0, MOST).map((figures) => (
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
