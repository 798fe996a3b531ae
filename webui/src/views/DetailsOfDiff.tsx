// SPDX-License-Identifier: Apache-2.0
/* What the details beside the views say of a comparison: each figure before and after. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import type { DiffFigure, DiffReport, DiffRow } from "../data/profile";
import { cut, display } from "../model/names";
import { percent } from "../model/numbers";
import { pointsText } from "./changeText";
import { functionOfRow, rowOfFunction } from "./functionsByName";
import { FunctionLink } from "./FunctionLink";
import type { Page } from "./page";

const FIRST = 10;
const NAME_LENGTH = 200;

function bothText({ before, after }: DiffFigure): string {
	return `${percent(before)} → ${percent(after)}`;
}

/** Those with the most self time on either side. */
export function heaviestOfBoth(list: readonly DiffRow[]): DiffRow[] {
	const most = ({ self }: DiffRow): number => Math.max(self.before, self.after);
	return [...list].sort((a, b) => most(b) - most(a)).slice(0, FIRST);
}

/** One that is gone has no link: the recording that is shown has no such function. */
function Name({ page, row }: { page: Page; row: DiffRow }): JSX.Element {
	const fn = functionOfRow(page.profile, row);
	if (fn !== null) return <FunctionLink page={page} fn={fn} />;
	return <span class="name cut">{display(cut(row.qualname || row.name, NAME_LENGTH))}</span>;
}

export function BeginningOfDiff({ page, report }: { page: Page; report: DiffReport }): JSX.Element {
	const best = useMemo(() => heaviestOfBoth(report.list), [report]);
	return (
		<>
			<h2>Most self time, before → after</h2>
			<dl class="pairs">
				{best.map((row, i) => (
					<>
						<dt class="named" key={i}>
							<Name page={page} row={row} />
						</dt>
						<dd class="number">{bothText(row.self)}</dd>
					</>
				))}
			</dl>
		</>
	);
}

/** Of the selected function, if the comparison knows it. */
export function ChangeOfFunction({ page, fn }: { page: Page; fn: number }): JSX.Element | null {
	const list = page.report.diff?.functions.list;
	const row = useMemo(() => (list ? rowOfFunction(page.profile, fn, list) : null), [page.profile, fn, list]);
	if (!row) return null;
	return (
		<section>
			<h3>Before → after (± is a 95 % interval, in points)</h3>
			<dl class="figures">
				<dt>Self</dt>
				<dd class="number">
					<b>{bothText(row.self)}</b>
				</dd>
				<dd class="number">{pointsText(row.self)}</dd>
				<dt>Total</dt>
				<dd class="number">
					<b>{bothText(row.total)}</b>
				</dd>
				<dd class="number">{pointsText(row.total)}</dd>
			</dl>
		</section>
	);
}
