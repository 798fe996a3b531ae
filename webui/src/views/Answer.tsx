// SPDX-License-Identifier: Apache-2.0
/* The answer in sentences: what is wrong with the program, which function has most self time, and the way to where most
 * time goes. */

import { Fragment, type JSX, type RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { stateLabels } from "../canvas/states";
import { stripKinds } from "../data/profile";
import type { Steps } from "../data/steps";
import { Reason, reasons } from "../data/words";
import { hottestRow } from "../model/functions";
import { percent, sharePm, time } from "../model/numbers";
import { heaviestPath } from "../model/tree";
import { evidenceOf } from "./evidence";
import { FunctionLink } from "./FunctionLink";
import { hotPath } from "./hotPath";
import type { Page } from "./page";
import { useSettled } from "./useSettled";

const FINDINGS = 2; /* before more is asked for: what is looked at stays in the upper half */
const STEPS = 4;
const REASONS = 4;
const WORTH_TELLING = 0.01;
/** The hot path ends where no branch has this much of its caller. */
const BRANCH = 0.3;

/** The function with the most self time, or -1. */
export function hottestFunction(page: Page): number {
	const rows = page.shown.functionRows();
	const row = hottestRow(rows);
	return row < 0 ? -1 : rows.fn[row];
}

function Path({ page }: { page: Page }): JSX.Element | null {
	const tree = page.shown.tree();
	const path = hotPath(tree, heaviestPath(tree, BRANCH), page.profile.functions, STEPS);
	if (path.length < 2) return null;
	return (
		<>
			{" Hot path: "}
			{path.map((node, i) => (
				<Fragment key={node}>
					{i > 0 ? (
						<span class="sep" aria-hidden="true">
							›
						</span>
					) : null}
					<FunctionLink page={page} fn={tree.fn[node]} /> {percent(tree.total[node] / tree.whole)}
				</Fragment>
			))}
			.
		</>
	);
}

const UNKNOWN = stripKinds.indexOf("unknown");

/** What threads mostly did in it, if that is known and not to compute. `parts` are in the order of `stateLabels`. */
export function doingWords(parts: readonly number[]): string {
	const all = parts.reduce((sum, one) => sum + one, 0);
	const most = parts.findIndex((one) => one > all / 2);
	return most > 0 && most !== UNKNOWN ? `, mostly ${stateLabels[most]}` : "";
}

function Sentence({ page }: { page: Page }): JSX.Element {
	const rows = page.shown.rows();
	const row = hottestRow(rows);
	if (row < 0) {
		const text =
			page.profile.cells.count === 0 ? "The recording has no samples." : "No samples pass the filters.";
		return <>{text}</>;
	}
	const fn = rows.fn[row];
	const value = rows.self[row];
	const [halfWidth] = page.shown.rowHalfWidths([row]).self;
	const line = page.state.by === "line" && rows.line[row] > 0 ? `, line ${rows.line[row]},` : "";
	const timed = page.state.unit === "time" && !page.profile.meta.counted;
	return (
		<>
			Most self time: <FunctionLink page={page} fn={fn} />
			{line} with <b>{sharePm(value / page.shown.whole, halfWidth)}</b>
			{timed ? ` (${time(value)})` : ""}
			{line === "" ? doingWords(page.shown.functionStates(fn)) : ""}.
			<Path page={page} />
			<Waits page={page} />
		</>
	);
}

/** What threads waited for, of all that they waited. Where they only lacked a CPU at times they waited for nothing. */
function Waits({ page }: { page: Page }): JSX.Element | null {
	const waits = page.shown.waits();
	const blocked = waits.reduce((sum, { text, share }) => sum + (text === reasons[Reason.cpu]?.text ? 0 : share), 0);
	const all = waits.reduce((sum, { share }) => sum + share, 0);
	const most = waits.filter(({ share }) => share >= WORTH_TELLING * all).slice(0, REASONS);
	if (blocked < WORTH_TELLING) return null;
	const parts = most.map(({ text, share }) => `${text} ${percent(share / all)}`);
	return <>{` Threads waited ${percent(all)} of their time: ${parts.join(", ")}.`}</>;
}

interface FindingProps {
	page: Page;
	rule: string;
	sentence: string;
	/** Its evidence was asked for. */
	onShow: () => void;
}

/** With the samples that it is about, where they can be chosen. */
function Finding({ page, rule, sentence, onShow }: FindingProps): JSX.Element {
	const evidence = evidenceOf(rule, page.profile);
	const show = (): void => {
		if (evidence) page.change(evidence);
		onShow();
	};
	return (
		<>
			<strong>{`${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}. `}</strong>
			{evidence ? (
				<button type="button" class="link" onClick={show}>
					Show where
				</button>
			) : null}{" "}
		</>
	);
}

function findingsOf({ profile }: Page): readonly { rule: string; sentence: string }[] {
	return profile.meta.findings ?? [];
}

/** Of the whole recording, whatever is filtered. */
function Findings({ page, most, onShow }: { page: Page; most: number; onShow: () => void }): JSX.Element {
	return (
		<>
			{findingsOf(page)
				.slice(0, most)
				.map(({ rule, sentence }) => (
					<Finding key={rule} page={page} rule={rule} sentence={sentence} onShow={onShow} />
				))}
		</>
	);
}

/** Which of two recordings it is about. */
function sideOf({ report, profile }: Page): string {
	if (report.profiles.length < 2) return "";
	return report.profiles.indexOf(profile) === 0 ? "Before: " : "After: ";
}

/** Whether it has more lines than are shown, as on a phone. */
function useIsCut(text: RefObject<HTMLElement | null>, parts: readonly unknown[]): boolean {
	const [isCut, setIsCut] = useState(false);
	useLayoutEffect(() => {
		const look = (): void => {
			const { scrollHeight = 0, clientHeight = 0 } = text.current ?? {};
			setIsCut(scrollHeight > clientHeight + 1);
		};
		const frame = requestAnimationFrame(look);
		window.addEventListener("resize", look);
		return () => {
			cancelAnimationFrame(frame);
			window.removeEventListener("resize", look);
		};
	}, parts);
	return isCut;
}

/** What the sentence needs: of the row that it is about, and what was waited for. */
function* ahead({ shown }: Page): Steps<void> {
	yield* shown.aheadOfTables();
	const rows = shown.rows();
	const row = hottestRow(rows);
	if (row < 0) return;
	yield* shown.aheadOfRows([row]);
	yield* shown.aheadOfStates(rows.fn[row]);
	yield* shown.aheadOfWaits();
}

export function Answer({ page }: { page: Page }): JSX.Element {
	const { filter, transforms, startup, by, unit } = page.state;
	const settled = useSettled(page, [page.profile, filter, transforms, startup, by, unit], ahead);
	const sentence = useMemo(() => (settled ? <Sentence page={settled} /> : null), [settled]);
	const text = useRef<HTMLParagraphElement>(null);
	const [whole, setWhole] = useState(false);
	const isCut = useIsCut(text, [sentence, page.profile, whole]);
	const hasMore = isCut || findingsOf(page).length > FINDINGS;
	return (
		<div class="answer-box">
			<p ref={text} class={whole ? "answer" : "answer short"}>
				{sideOf(page)}
				<Findings page={page} most={whole ? Infinity : FINDINGS} onShow={() => setWhole(false)} />
				{sentence}
			</p>
			{hasMore || whole ? (
				<button type="button" class="link" aria-expanded={whole} onClick={() => setWhole(!whole)}>
					{whole ? "Less" : "More …"}
				</button>
			) : null}
		</div>
	);
}
