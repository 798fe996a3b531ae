// SPDX-License-Identifier: Apache-2.0
/* For which locks threads waited, where, and who held them. */

import type { JSX } from "preact";

import type { Figure } from "../model/figures";
import type { LockBlame, LockHolder, LockPlace, LockRow } from "../model/locks";
import { count, sharePm, time } from "../model/numbers";
import { FigureSection, FigureTable, PlaceCell } from "./FigureTable";
import { FunctionLink } from "./FunctionLink";
import type { Page } from "./page";
import { brief } from "./text";

/** Of one lock. */
const MOST_PLACES = 3;
const MOST_HOLDERS = 5;
const MOST_THREADS = 3;
const TITLE = "Which locks threads waited for, and who held them";

function Part({ what, figure, place }: { what: JSX.Element | string; figure: Figure; place?: LockPlace }): JSX.Element {
	return (
		<tr>
			<th scope="row" class="inner">
				{what}
			</th>
			<td>{sharePm(figure.share, figure.halfWidth)}</td>
			<td>{time(figure.value)}</td>
			<PlaceCell place={place?.name ? place : null} />
		</tr>
	);
}

function named(page: Page, { fn, name }: LockPlace): JSX.Element | string {
	return fn !== null && fn < page.profile.functions.count ? <FunctionLink page={page} fn={fn} /> : brief(name, 80);
}

/** "main in work": the function is what it stands in; of several threads the first. */
function holder(page: Page, held: LockHolder): JSX.Element {
	const names = held.threads.slice(0, MOST_THREADS).map((name) => brief(name, 40)).join(", ");
	const more = held.threads.length > MOST_THREADS ? ` and ${count(held.threads.length - MOST_THREADS)} more` : "";
	return (
		<>
			held by {names || "a thread"}
			{more}
			{held.name ? <> in {named(page, held)}</> : ", where is not known"}
		</>
	);
}

function Lock({ page, row }: { page: Page; row: LockRow }): JSX.Element {
	const { lock, waited, places, holders, passedOn, unknown } = row;
	return (
		<>
			<tr>
				<th scope="row">
					{brief(lock.type, 40)} {brief(lock.id, 24)}
				</th>
				<td>{sharePm(waited.share, waited.halfWidth)}</td>
				<td>{time(waited.value)}</td>
				<td class="left">process {lock.pid}</td>
			</tr>
			{places.slice(0, MOST_PLACES).map((at, i) => (
				<Part key={`at ${i}`} what={<>waited for in {named(page, at)}</>} figure={at.share} place={at} />
			))}
			{holders.slice(0, MOST_HOLDERS).map((held, i) => (
				<Part key={`by ${i}`} what={holder(page, held)} figure={held.share} place={held} />
			))}
			{passedOn.samples > 0 ? <Part what="being passed on" figure={passedOn} /> : null}
			{unknown.samples > 0 ? <Part what="holder not known" figure={unknown} /> : null}
		</>
	);
}

function about({ waitedNs, samples, more, unknown }: LockBlame): string {
	const all = `Shares of locks are of the ${time(waitedNs)} that were waited (${count(samples)} samples)`;
	const left = more > 0 ? ` ${count(more)} more locks are not listed.` : "";
	const lost = unknown ? " Some of it was for locks that are not known." : "";
	return `${all}, all below a lock of the time that was waited for it. Idle threads count.${left}${lost}`;
}

export function LockTable({ page }: { page: Page }): JSX.Element | null {
	const blame = page.shown.lockBlame();
	if (!blame) return null;
	return (
		<FigureSection page={page} table="locks" title={TITLE} about={about(blame)}>
			<FigureTable label={TITLE} columns={["Lock", "Share", "Time", { words: "Place" }]}>
				{blame.rows.map((row) => (
					<Lock key={`${row.lock.pid} ${row.lock.id}`} page={page} row={row} />
				))}
			</FigureTable>
		</FigureSection>
	);
}
