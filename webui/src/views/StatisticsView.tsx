// SPDX-License-Identifier: Apache-2.0
/* Figures of the whole recording and of what passes the filters: what threads did, how sure it is, what it cost. */

import type { JSX } from "preact";

import { State } from "../data/profile";
import { doings, losses, qualities, states } from "../data/words";
import { count, percent, rate, sharePm, time } from "../model/numbers";
import type { WaitFigure } from "../model/reasons";
import type { StateName, Statistics } from "../model/statistics";
import { BlameTable } from "./BlameTable";
import { LockTable } from "./LockTable";
import { LoopTable } from "./LoopTable";
import type { Page } from "./page";
import { ProcessTable, ThreadTable } from "./StatisticsTables";
import { capital } from "./text";
import { WaitsTable } from "./WaitsTable";

interface Row {
	readonly name: string;
	readonly value: string;
	/** Drawn as a bar below. */
	readonly share?: number;
	/** What the name means, where it does not say so itself. */
	readonly about?: string;
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
							{row.about === undefined ? null : <dd class="about muted">{row.about}</dd>}
						</>
					))}
			</dl>
		</section>
	);
}

/** But for holding the GIL, which is told at the end. */
const told: readonly (readonly [StateName, string])[] = [
	["onCpu", states[0].text],
	["waiting", "waiting"],
	...states.slice(1).filter(({ name }) => name !== "hasGil").map(({ name, text }) => [name, text] as const),
];

/** What samples cannot be chosen by is told only where there is some of it. */
function isRare(state: StateName): boolean {
	return state !== "waiting" && !doings.some((one) => one.state === State[state]);
}

function doingRows({ samples, states: figures, gilHeld }: Statistics): Row[] {
	if (figures.unknown.samples === samples) return [{ name: "not known", value: percent(samples > 0 ? 1 : 0) }];
	const shown = told.filter(([state]) => !isRare(state) || figures[state].samples > 0);
	const rows = shown.map(([state, name]) => {
		const { share, halfWidth } = figures[state];
		return { name, value: sharePm(share, halfWidth), share };
	});
	const { share, halfWidth } = gilHeld ?? figures.hasGil;
	const name = gilHeld ? "time in which any thread held the GIL" : "holding the GIL";
	return [...rows, { name, value: sharePm(share, halfWidth), share }];
}

function waitRows(waits: readonly WaitFigure[]): Row[] {
	return waits.map(({ text, share, halfWidth }) => ({ name: text, value: sharePm(share, halfWidth), share }));
}

function recordingRows(page: Page, { rateTaken, recording }: Statistics): (Row | null)[] {
	const { meta } = page.profile;
	const idle = meta.threads.filter((thread) => thread.idle).length;
	const asked = meta.period_ns > 0 ? rate(1e9 / meta.period_ns) : "as fast as possible";
	return [
		meta.duration_ns > 0 ? { name: "Duration", value: time(recording.durationNs) } : null,
		{ name: "Rate asked for", value: meta.imported && meta.period_ns === 0 ? "not known" : asked },
		rateTaken > 0 ? { name: "Rate taken", value: rate(rateTaken) } : null,
		{ name: "Processes", value: count(meta.processes.length) },
		{ name: "Threads", value: `${count(meta.threads.length)}${idle > 0 ? `, ${count(idle)} idle` : ""}` },
		{ name: "Functions seen", value: count(page.profile.functions.count) },
	];
}

/** Of stacks that another profiler took nothing is known. */
function truthRows({ meta }: Page["profile"], { samples, byQuality, recording }: Statistics): (Row | null)[] {
	return [
		{ name: "Samples that pass the filters", value: count(samples) },
		...(meta.imported ? [] : qualities).map(({ name, about }, quality) => {
			const n = byQuality[quality];
			const value = percent(n / Math.max(1, samples));
			return n > 0 ? { name: `Stacks ${name}`, value, about: `each ${about}` } : null;
		}),
		...losses.map(({ name, text, about }) => {
			const n = recording.losses[name];
			return n > 0 ? { name: capital(text), value: count(n), about } : null;
		}),
	];
}

function costRows(limit: number | null, { stoppedShare, profilerShare, recording }: Statistics): (Row | null)[] {
	const { stops, stopsRefused } = recording;
	return [
		{ name: "Program held up", value: percent(stoppedShare), about: "of its time, by these stops" },
		{ name: "Stops", value: count(stops), about: "of a thread, for some microseconds, to read its stack" },
		stopsRefused > 0 ? { name: "Stops refused", value: count(stopsRefused) } : null,
		{ name: "Profiler, of one core", value: percent(profilerShare) },
		limit === null
			? null
			: { name: "Limit of that", value: percent(limit), about: "beyond it, samples are taken less often" },
	];
}

/** Of a range of time: what is counted for the whole only. */
function SpreadNote({ page }: { page: Page }): JSX.Element | null {
	if (!page.shown.range) return null;
	return (
		<p class="muted">
			What was lost, and what measuring cost, is known of the whole recording: it is taken to be spread evenly
			over its time.
		</p>
	);
}

export function StatisticsView({ page }: { page: Page }): JSX.Element {
	const statistics = page.shown.statistics();
	const { meta } = page.profile;
	const waits = page.shown.waits();
	return (
		<div class="stats" tabIndex={0} role="region" aria-label="Statistics">
			<div class="cards">
				<Card title="What threads did, of their time" rows={doingRows(statistics)} />
				{waits.length > 0 ? (
					<Card title="What threads waited for, of their time" rows={waitRows(waits)} />
				) : null}
				<Card title="Recording" rows={recordingRows(page, statistics)} />
				<Card title="How sure it is" rows={truthRows(page.profile, statistics)} />
				{meta.imported ? null : (
					<Card title="What measuring cost" rows={costRows(meta.overhead.limit, statistics)} />
				)}
			</div>
			<SpreadNote page={page} />
			<BlameTable page={page} />
			<LockTable page={page} />
			<LoopTable page={page} />
			<WaitsTable page={page} />
			<ThreadTable page={page} statistics={statistics} />
			<ProcessTable page={page} statistics={statistics} />
		</div>
	);
}
