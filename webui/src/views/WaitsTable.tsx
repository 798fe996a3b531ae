// SPDX-License-Identifier: Apache-2.0
/* What asyncio tasks waited for, by their outermost coroutine: task seconds, which are no time of threads. */

import type { JSX } from "preact";

import type { Waits, WaitRoot } from "../data/profile";
import { time } from "../model/numbers";
import type { Page } from "./page";
import { brief } from "./text";

/** The file without its folders. */
function place({ file, line }: { file: string; line: number }): string {
	return `${brief(file.slice(file.lastIndexOf("/") + 1), 60)}:${line}`;
}

function Root({ root }: { root: WaitRoot }): JSX.Element {
	return (
		<>
			<tr>
				<th scope="row">{brief(root.name, 80)}</th>
				<td>{time(root.task_ns)}</td>
				<td>{root.computed_ns > 0 ? time(root.computed_ns) : ""}</td>
				<td class="left" title={brief(root.file, 400)}>
					{place(root)}
				</td>
			</tr>
			{root.places.map((at, i) => (
				<tr key={i}>
					<th scope="row" class="inner">
						{at.what}, in {brief(at.name, 80)}
					</th>
					<td>{time(at.task_ns)}</td>
					<td />
					<td class="left" title={brief(at.file, 400)}>
						{place(at)}
					</td>
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
		<section>
			<h2>What asyncio tasks waited for</h2>
			<p class="muted">{about(waits, page)}</p>
			<div class="table-box" tabIndex={0} role="region" aria-label="What asyncio tasks waited for">
				<table class="waits">
					<thead>
						<tr>
							<th scope="col">Coroutine</th>
							<th scope="col">Waited</th>
							<th scope="col">Computed</th>
							<th scope="col" class="left">
								Place
							</th>
						</tr>
					</thead>
					<tbody>
						{waits.roots.map((root, i) => (
							<Root key={i} root={root} />
						))}
					</tbody>
				</table>
			</div>
		</section>
	);
}
