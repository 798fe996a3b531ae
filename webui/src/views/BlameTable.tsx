// SPDX-License-Identifier: Apache-2.0
/* Who held the GIL while threads waited for it. */

import type { JSX } from "preact";

import type { Holder } from "../model/blame";
import { Doing } from "../model/filter";
import { count, sharePm, time } from "../model/numbers";
import { FigureSection, FigureTable } from "./FigureTable";
import { FunctionLink } from "./FunctionLink";
import type { Page } from "./page";

/** More than that nobody reads. */
const MOST = 12;
const TITLE = "Who held the GIL while threads waited for it";
const COLUMNS = ["Function", "Held it for", "Time", { words: "Evidence", unseen: true }];

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
	const of = `Shares of the ${time(waitedNs)} that were waited (${count(samples)} samples)`;
	const about = `${of}. Whoever held it may be in a thread that is filtered out.`;
	return (
		<FigureSection page={page} table="gil" title={TITLE} about={about}>
			<FigureTable label={TITLE} columns={COLUMNS}>
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
			</FigureTable>
			{holders.length > MOST ? <p class="muted">{count(holders.length - MOST)} more are not listed.</p> : null}
		</FigureSection>
	);
}
