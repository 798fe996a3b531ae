// SPDX-License-Identifier: Apache-2.0
/* Which lines the time went to, file by file. */

import type { JSX } from "preact";

import type { Steps } from "../data/steps";
import type { FileLines } from "../model/lines";
import { copy } from "./actions";
import { LineAbout } from "./LineAbout";
import type { Page } from "./page";
import { SourceFiles } from "./SourceFiles";
import { SourceLines } from "./SourceLines";
import { linesOfSelected } from "./sourceRows";
import { brief } from "./text";
import { useSettled } from "./useSettled";

/** The line asked for, else the hottest of the selected function or of all. */
function lineOf(page: Page, file: number, lines: FileLines): number | null {
	if (page.state.line !== null && page.state.file !== null) return page.state.line;
	const own = linesOfSelected(page, file);
	let best = -1;
	for (let i = 0; i < lines.lines.length; i++) {
		if (own && !own.has(lines.lines[i])) continue;
		if (best < 0 || lines.self[i] > lines.self[best]) best = i;
	}
	return best < 0 ? null : lines.lines[best];
}

/** What is to be known about the text, if it is not just what ran. */
function TextNote({ page, file }: { page: Page; file: number }): JSX.Element | null {
	const source = page.profile.sources.get(file);
	if (source && !source.changed) return null;
	const text = source
		? "The file was changed after the program had begun: its lines may not be those that ran."
		: "The recording has no text of this file: it could not be read, or sources were left out (--no-sources).";
	return <p class="warn">{text}</p>;
}

interface LineProps {
	page: Page;
	lines: FileLines;
	line: number;
}

function* aheadOfLine({ lines, line }: LineProps): Steps<void> {
	const row = lines.lines.indexOf(line);
	if (row >= 0) yield* lines.aheadOf(row);
}

/** About a line; until that is known about the one before. */
function Line(props: LineProps): JSX.Element | null {
	const settled = useSettled(props, [props.lines, props.line], aheadOfLine);
	return settled ? <LineAbout {...settled} /> : null;
}

function File({ page, file }: { page: Page; file: number }): JSX.Element {
	const lines = page.shown.sourceLines(file);
	const line = lineOf(page, file, lines);
	const path = page.profile.strings[file] ?? "";
	const at = { ...page, state: { ...page.state, file, line } };
	return (
		<section class="source-text" aria-label={brief(path, 200)}>
			<div class="source-head">
				<span class="path mono name">{brief(path, 1000)}</span>
				<button
					type="button"
					class="link"
					onClick={() => void copy(page, `${path}${line === null ? "" : `:${line}`}`, "the place")}
				>
					Copy place
				</button>
			</div>
			<TextNote page={page} file={file} />
			<SourceLines page={at} file={file} lines={lines} />
			{line === null ? null : <Line page={at} lines={lines} line={line} />}
		</section>
	);
}

export function SourceView({ page }: { page: Page }): JSX.Element {
	const file = page.shown.sourceFile();
	if (file === null) return <p class="empty">No samples with a source file pass the filters.</p>;
	return (
		<div class="source">
			<SourceFiles page={page} file={file} />
			<File page={page} file={file} />
		</div>
	);
}
