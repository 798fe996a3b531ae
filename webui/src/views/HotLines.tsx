// SPDX-License-Identifier: Apache-2.0
/* The lines of a function that took most, with their text. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { percent } from "../model/numbers";
import type { FileLines } from "../model/lines";
import { codeParts } from "./codeText";
import type { Page } from "./page";
import { sourceRows } from "./sourceRows";

const MOST = 5;

/** Sampled lines of the function, heaviest first: those of the file that lie in it. */
function linesOf(page: Page, fn: number, lines: FileLines): number[] {
	const { start, line } = page.profile.locations;
	const mine = new Set(line.subarray(start[fn], start[fn + 1]));
	const found: number[] = [];
	for (let i = 0; i < lines.lines.length; i++) {
		if (mine.has(lines.lines[i]) && lines.lines[i] > 0 && lines.total[i] > 0) found.push(i);
	}
	return found.sort((a, b) => lines.self[b] - lines.self[a] || lines.total[b] - lines.total[a]).slice(0, MOST);
}

export function HotLines({ page, fn }: { page: Page; fn: number }): JSX.Element | null {
	const { functions, sources } = page.profile;
	const file = fn < functions.count ? functions.file[fn] : 0;
	return file === 0 ? null : <Lines page={page} fn={fn} file={file} key={sources.has(file) ? "text" : "lines"} />;
}

function Lines({ page, fn, file }: { page: Page; fn: number; file: number }): JSX.Element | null {
	const lines = page.shown.sourceLines(file);
	const texts = useMemo(
		() => new Map(sourceRows(page.profile.sources.get(file), []).map((row) => [row.line, row.text ?? ""])),
		[page.profile, file],
	);
	const best = linesOf(page, fn, lines);
	if (best.length === 0) return null;
	return (
		<section>
			<h3>Its lines (self, total)</h3>
			<ul class="hot-lines">
				{best.map((i) => (
					<li key={i}>
						<span class="number">{percent(lines.self[i] / page.shown.whole)}</span>
						<span class="number muted">{percent(lines.total[i] / page.shown.whole)}</span>
						<button
							type="button"
							class="link mono cut"
							onClick={() => page.change({ view: "source", file, line: lines.lines[i] })}
						>
							{lines.lines[i]} {codeParts((texts.get(lines.lines[i]) ?? "").trim(), -1, -1).before}
						</button>
					</li>
				))}
			</ul>
		</section>
	);
}
