// SPDX-License-Identifier: Apache-2.0
/* What changed between two recordings: as a flame graph, with what is gone beside it, and as a table. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { DiffReport, Report } from "../data/profile";
import { weightsAfter, weightsGone, weightsOfBoth } from "../model/diff";
import { count, percent } from "../model/numbers";
import { changesOf, verdictText } from "./changeText";
import { ChangesTable, type Words } from "./ChangesTable";
import { DiffFlame } from "./DiffFlame";
import { tookText } from "./diffText";
import type { Page } from "./page";
import { Switch } from "./Switch";

const WORDS: Words = {
	change: "Change",
	before: "Before",
	after: "After",
	verdict: verdictText,
	label: "Changes of functions",
};

const WIDTHS = [
	["after", "Widths of after"],
	["both", "Widths of both", "Half of a width is the share before, half that after: what is gone has its place, too"],
] as const;

function foundText(report: DiffReport, figure: "self" | "total"): string {
	const changes = changesOf(report.list, figure);
	const rate = percent(report.false_discovery_rate[figure]);
	const of = `of ${count(report.list.length)} functions`;
	if (changes === 0) return `No change found among ${count(report.list.length)} functions: all may be chance.`;
	return `${count(changes)} ${of} changed; of such findings ${rate} may be chance (± is a 95 % interval).`;
}

function Bar({ page, report }: { page: Page; report: DiffReport }): JSX.Element {
	const { diffFigure, diffWidth } = page.state;
	const took = tookText(report);
	return (
		<div class="diff-bar">
			<Switch
				label="What is compared"
				choices={[["total", "Total"], ["self", "Self"]]}
				value={diffFigure}
				onChoose={(figure) => page.change({ diffFigure: figure })}
			/>
			<Switch
				label="Width of boxes"
				choices={WIDTHS}
				value={diffWidth}
				onChoose={(width) => page.change({ diffWidth: width })}
			/>
			{took !== "" && <p><b>{took}</b></p>}
			<p>{foundText(report, diffFigure)}</p>
			<ul class="diff-legend">
				<li><span class="diff-sample less" />− less</li>
				<li><span class="diff-sample same" />may be chance</li>
				<li><span class="diff-sample more" />+ more</li>
			</ul>
		</div>
	);
}

/** Percent of the width; what is gone has the measure of the other picture unless that is too narrow to be read. */
const LEAST_GONE = 15;

type Diff = NonNullable<Report["diff"]>;

function Compared({ page, diff }: { page: Page; diff: Diff }): JSX.Element {
	const { diffWidth, diffFigure } = page.state;
	const after = diffWidth === "after";
	const weights = useMemo(() => (after ? weightsAfter(diff.paths) : weightsOfBoth(diff.paths)), [diff, after]);
	const gone = useMemo(() => weightsGone(diff.paths), [diff]);
	const hidden = useMemo(() => ({ current: null }), []);
	const goneShare = diff.paths.list.reduce((sum, row, i) => (row.caller === null ? sum + gone[i] : sum), 0);
	const inMeasure = (100 * goneShare) / (1 + goneShare);
	const goneWidth = Math.max(inMeasure, LEAST_GONE);
	return (
		<div class="diff">
			<Bar page={page} report={diff.functions} />
			<div class="diff-pictures">
				<DiffFlame
					page={page}
					report={diff.paths}
					weights={weights}
					gone={false}
					label="Flame graph of the comparison"
					picture={page.picture}
				/>
				{after && goneShare > 0 ? (
					<section class="diff-gone" style={{ "--gone-width": `${goneWidth}%` }}>
						<h2>
							Only before: {percent(goneShare)}
							{goneWidth > inMeasure ? " (drawn wider)" : ""}
						</h2>
						<DiffFlame
							page={page}
							report={diff.paths}
							weights={gone}
							gone={true}
							label="Flame graph of what is there only before"
							picture={hidden}
						/>
					</section>
				) : null}
			</div>
			<ChangesTable page={page} list={diff.functions.list} figure={diffFigure} words={WORDS} />
		</div>
	);
}

export function DiffView({ page }: { page: Page }): JSX.Element {
	const { diff } = page.report;
	if (!diff) return <p class="empty">This page holds one recording: there is nothing to compare it with.</p>;
	return <Compared page={page} diff={diff} />;
}
