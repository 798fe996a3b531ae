// SPDX-License-Identifier: Apache-2.0
/* Who held the GIL while threads waited for it. */

import type { JSX } from "preact";

import type { Holder } from "../model/blame";
import { Doing } from "../model/filter";
import { count, sharePm, time } from "../model/numbers";
import { FunctionLink } from "./FunctionLink";
import type { Page } from "./page";

/** More than that nobody reads. */
const MOST = 12;

function HolderRow({ page, holder: { fn, held } }: { page: Page; holder: Holder }): JSX.Element {
	const filter = { ...page.state.filter, threads: null, states: Doing.gil };
	const show = () => page.change({ view: "flame", filter, selected: fn, at: null });
	return (
		<tr>
			<th scope="row">
				<FunctionLink page={page} fn={fn} />
			</th>
			<td>{sharePm(held.share, held.halfWidth)}</td>
			<td>{time(held.value)}</td>
			<td class="left">
				<button type="button" class="link" title="Count only who held the GIL" onClick={show}>
					Show where
				</button>
			</td>
		</tr>
	);
}

export function BlameTable({ page }: { page: Page }): JSX.Element | null {
	const blame = page.shown.blame();
	if (!blame) return null;
	const { holders, unseen, waitedNs, samples } = blame;
	return (
		<section>
			<h2>Who held the GIL while threads waited for it</h2>
			<p class="muted">
				Shares of the {time(waitedNs)} that were waited ({count(samples)} samples). Whoever held it may be in a
				thread that is filtered out.
			</p>
			<div class="table-box" tabIndex={0} role="region" aria-label="Who held the GIL while threads waited for it">
				<table class="blame">
					<thead>
						<tr>
							<th scope="col">Function</th>
							<th scope="col">Held it for</th>
							<th scope="col">Time</th>
							<th scope="col" class="left">
								<span class="unseen">Evidence</span>
							</th>
						</tr>
					</thead>
					<tbody>
						{holders.slice(0, MOST).map((holder) => (
							<HolderRow key={holder.fn} page={page} holder={holder} />
						))}
						{unseen.samples > 0 ? (
							<tr>
								<th scope="row">not seen</th>
								<td>{sharePm(unseen.share, unseen.halfWidth)}</td>
								<td>{time(unseen.value)}</td>
								<td />
							</tr>
						) : null}
					</tbody>
				</table>
			</div>
			{holders.length > MOST ? <p class="muted">{count(holders.length - MOST)} more are not listed.</p> : null}
		</section>
	);
}
