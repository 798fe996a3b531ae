// SPDX-License-Identifier: Apache-2.0
/* Which lines the time went to, file by file. */

import type { JSX } from "preact";

import type { FileLines } from "../model/lines";
import { copy } from "./actions";
import { LineAbout } from "./LineAbout";
import type { Page } from "./page";
import { SourceFiles } from "./SourceFiles";
import { SourceLines } from "./SourceLines";
import { linesOfSelected } from "./sourceRows";
import { brief } from "./text";

/** The hottest file of the program's own code; if it has none the hottest. */
function firstFile({ profile: { meta, functions }, shown }: Page): number | null {
	const files = shown.sourceFiles();
	const own = meta.categories.findIndex(({ name }) => name === "Application");
	const ofOwn = new Set<number>();
	for (let fn = 0; fn < functions.count; fn++) {
		if (functions.category[fn] === own) ofOwn.add(functions.file[fn]);
	}
	return (files.find(({ file }) => ofOwn.has(file)) ?? files[0])?.file ?? null;
}

/** The file asked for, else that of the selected function, else the first. */
export function fileOf(page: Page): number | null {
	const { file, selected } = page.state;
	const { functions } = page.profile;
	if (file !== null) return file;
	const own = selected !== null && selected < functions.count ? functions.file[selected] : 0;
	return own === 0 ? firstFile(page) : own;
}

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
			{line === null ? null : <LineAbout page={at} lines={lines} line={line} />}
		</section>
	);
}

export function SourceView({ page }: { page: Page }): JSX.Element {
	const file = fileOf(page);
	if (file === null) return <p class="empty">No samples with a source file pass the filters.</p>;
	return (
		<div class="source">
			<SourceFiles page={page} file={file} />
			<File page={page} file={file} />
		</div>
	);
}
