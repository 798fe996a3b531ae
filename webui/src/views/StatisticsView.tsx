// SPDX-License-Identifier: Apache-2.0
/* Figures of the whole recording and of what passes the filters: what threads did, how sure it is, what it cost. */

import type { JSX } from "preact";

import { count, percent, rate, sharePm, time } from "../model/numbers";
import type { StateName, Statistics } from "../model/statistics";
import type { Page } from "./page";
import { ProcessTable, ThreadTable } from "./StatisticsTables";

interface Row {
	readonly name: string;
	readonly value: string;
	/** Drawn as a bar below. */
	readonly share?: number;
}

function Card({ title, rows }: { title: string; rows: readonly (Row | null)[] }): JSX.Element {
	return (
		<section class="card">
			<h2>{title}</h2>
			<dl class="pairs">
				{rows
					.filter((row) => row !== null)
					.map((row) => (
						<>
							<dt>{row.name}</dt>
							<dd class="number">{row.value}</dd>
							{row.share === undefined ? null : (
								<dd class="meter" aria-hidden="true">
									<span style={{ width: `${Math.min(100, row.share * 100).toFixed(2)}%` }} />
								</dd>
							)}
						</>
					))}
			</dl>
		</section>
	);
}

const always: readonly (readonly [StateName, string])[] = [
	["onCpu", "on a CPU"],
	["waiting", "waiting"],
	["wantsGil", "waiting for the GIL"],
	["inGc", "collecting garbage"],
	["exception", "handling an exception"],
];
const rare: readonly (readonly [StateName, string])[] = [
	["unknown", "not known whether it ran"],
	["jit", "in code of Python’s JIT compiler"],
];

function doingRows({ states, gilHeld }: Statistics): Row[] {
	const shown = [...always, ...rare.filter(([state]) => states[state].samples > 0)];
	const rows = shown.map(([state, name]) => {
		const { share, halfWidth } = states[state];
		return { name, value: sharePm(share, halfWidth), share };
	});
	const { share, halfWidth } = gilHeld ?? states.hasGil;
	const name = gilHeld ? "GIL held by somebody, of the time" : "holding the GIL";
	return [...rows, { name, value: sharePm(share, halfWidth), share }];
}

function recordingRows(page: Page, { rateTaken }: Statistics): (Row | null)[] {
	const { meta } = page.profile;
	const idle = meta.threads.filter((thread) => thread.idle).length;
	const asked = meta.period_ns > 0 ? rate(1e9 / meta.period_ns) : "as fast as possible";
	return [
		meta.duration_ns > 0 ? { name: "Duration", value: time(meta.duration_ns) } : null,
		{ name: "Rate asked for", value: meta.imported && meta.period_ns === 0 ? "not known" : asked },
		rateTaken > 0 ? { name: "Rate taken", value: rate(rateTaken) } : null,
		{ name: "Processes", value: count(meta.processes.length) },
		{ name: "Threads", value: `${count(meta.threads.length)}${idle > 0 ? `, ${count(idle)} idle` : ""}` },
		{ name: "Functions seen", value: count(page.profile.functions.count) },
	];
}

const qualities = ["exact", "stopped", "doubtful", "partial"];

function truthRows(page: Page, { samples, byQuality }: Statistics): (Row | null)[] {
	const { losses } = page.profile.meta;
	const lost = [
		["Missed ticks", losses.missed],
		["Unreadable stacks", losses.unreadable],
		["Dropped", losses.queue],
		["In damaged parts", losses.damaged],
		["Processes that ended unseen", losses.unseen],
		["Too many to be followed", losses.beyond],
		["Folded", losses.folded],
	] as const;
	return [
		{ name: "Samples that pass the filters", value: count(samples) },
		...byQuality.map((n, quality) =>
			n > 0 ? { name: `Stacks ${qualities[quality]}`, value: percent(n / Math.max(1, samples)) } : null,
		),
		...lost.map(([name, n]) => (n > 0 ? { name, value: count(n) } : null)),
	];
}

function costRows(page: Page, { stoppedShare, profilerShare }: Statistics): (Row | null)[] {
	const { overhead } = page.profile.meta;
	const refused = overhead.stops_refused;
	const refusals = refused.tracer + refused.rights + refused.filter + refused.other;
	return [
		{ name: "Program stopped", value: percent(stoppedShare) },
		{ name: "Stops", value: count(overhead.stops) },
		refusals > 0 ? { name: "Stops refused", value: count(refusals) } : null,
		{ name: "Profiler, of one core", value: percent(profilerShare) },
		overhead.limit === null ? null : { name: "Limit", value: percent(overhead.limit) },
	];
}

export function StatisticsView({ page }: { page: Page }): JSX.Element {
	const statistics = page.shown.statistics();
	return (
		<div class="stats" tabIndex={0} role="region" aria-label="Statistics">
			<div class="cards">
				<Card title="What threads did, of their time" rows={doingRows(statistics)} />
				<Card title="Recording" rows={recordingRows(page, statistics)} />
				<Card title="How sure it is" rows={truthRows(page, statistics)} />
				{page.profile.meta.imported ? null : (
					<Card title="What measuring cost" rows={costRows(page, statistics)} />
				)}
			</div>
			<ThreadTable page={page} statistics={statistics} />
			<ProcessTable page={page} statistics={statistics} />
		</div>
	);
}
