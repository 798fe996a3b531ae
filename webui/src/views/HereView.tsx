// SPDX-License-Identifier: Apache-2.0
/* What is different in the range of time, or the threads, that are chosen: against all the rest of the recording. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import type { DiffRow, Verdict } from "../data/profile";
import { falseDiscoveryRate } from "../model/differences";
import { count, percent, time } from "../model/numbers";
import { changesOf } from "./changeText";
import { ChangesTable, type Words } from "./ChangesTable";
import type { Page } from "./page";
import { Switch } from "./Switch";
import { useSettled } from "./useSettled";

const VERDICTS: Readonly<Record<Verdict, string>> = {
	same: "",
	new: "+ only here",
	gone: "− not here",
	more: "+ more",
	less: "− less",
};

const WORDS: Words = {
	change: "Difference",
	before: "Elsewhere",
	after: "Here",
	verdict: (verdict) => VERDICTS[verdict],
	label: "What differs, by function",
};

/** What is compared with what. */
function sidesText({ shown: { range } }: Page): string {
	return range
		? `${time(range[0])} to ${time(range[1])} against the rest of the time`
		: "The chosen threads against all the others";
}

function foundText(list: readonly DiffRow[], figure: "self" | "total"): string {
	const changes = changesOf(list, figure);
	if (changes === 0) return "no difference found: all may be chance.";
	const functions = changes === 1 ? "1 function differs" : `${count(changes)} functions differ`;
	return `${functions}; of such findings ${percent(falseDiscoveryRate)} may be chance (± is a 95 % interval).`;
}

function Found({ page, list }: { page: Page; list: readonly DiffRow[] }): JSX.Element {
	const { diffFigure } = page.state;
	return (
		<div class="diff">
			<div class="diff-bar">
				<Switch
					label="What is compared"
					choices={[["total", "Total"], ["self", "Self"]]}
					value={diffFigure}
					onChoose={(figure) => page.change({ diffFigure: figure })}
				/>
				<p>
					{sidesText(page)}: {foundText(list, diffFigure)}
				</p>
			</div>
			<ChangesTable page={page} list={list} figure={diffFigure} words={WORDS} />
		</div>
	);
}

export function HereView({ page }: { page: Page }): JSX.Element {
	const { filter, transforms, unit } = page.state;
	const settled = useSettled(page, [page.profile, filter, transforms, unit], (of) => of.shown.aheadOfDifferences());
	const list = useMemo(() => settled?.shown.differences(), [settled]);
	if (list === undefined) return <p class="empty">Comparing …</p>;
	if (list === null) {
		return (
			<p class="empty">
				Choose a part of the recording: drag over the timeline, or choose threads. Here stands what is different
				there.
			</p>
		);
	}
	return <Found page={page} list={list} />;
}
