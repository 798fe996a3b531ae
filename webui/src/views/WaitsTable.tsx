// SPDX-License-Identifier: Apache-2.0
/* What asyncio tasks waited for, by their outermost coroutine: task seconds, which are no time of threads. */

import type { JSX } from "preact";

import type { Waits, WaitRoot } from "../data/profile";
import { time } from "../model/numbers";
import { FigureSection, FigureTable, PlaceCell } from "./FigureTable";
import type { Page } from "./page";
import { brief } from "./text";

const TITLE = "What asyncio tasks waited for";

function Root({ root }: { root: WaitRoot }): JSX.Element {
	return (
		<>
			<tr>
				<th scope="row">{brief(root.name, 80)}</th>
				<td>{time(root.task_ns)}</td>
				<td>{root.computed_ns > 0 ? time(root.computed_ns) : ""}</td>
				<PlaceCell place={root} />
			</tr>
			{root.places.map((at, i) => (
				<tr key={i}>
					<th scope="row" class="inner">
						{at.what}, in {brief(at.name, 80)}
					</th>
					<td>{time(at.task_ns)}</td>
					<td />
					<PlaceCell place={at} />
				</tr>
			))}
		</>
	);
}

function about(waits: Waits, page: Page): string {
	const all = `${time(waits.task_ns)} in all`;
	const lost = waits.lost_ns > 0 ? `, ${time(waits.lost_ns)} more not known` : "";
	const whole = page.profile.meta.filter === null ? "" : " Only what was chosen when the page was written.";
	const what = "Task seconds: two tasks that wait for a second are two.";
	return `${what} ${all}${lost}. Filters of the page do not apply.${whole}`;
}

export function WaitsTable({ page }: { page: Page }): JSX.Element | null {
	const { waits } = page.profile.meta;
	if (!waits) return null;
	return (
		<FigureSection page={page} table="waits" title={TITLE} about={about(waits, page)}>
			<FigureTable label={TITLE} columns={["Coroutine", "Waited", "Computed", { words: "Place" }]}>
				{waits.roots.map((root, i) => (
					<Root key={i} root={root} />
				))}
			</FigureTable>
		</FigureSection>
	);
}
