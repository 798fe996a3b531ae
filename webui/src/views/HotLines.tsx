// SPDX-License-Identifier: Apache-2.0
/* The lines of a function that took most, with their text. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { percent } from "../model/numbers";
import type { FunctionRows } from "../model/functions";
import { codeParts } from "./codeText";
import type { Page } from "./page";
import { sourceRows } from "./sourceRows";

const MOST = 5;

/** Sampled lines of the function, heaviest first: what other functions on the same lines took is not theirs. */
export function linesOf(fn: number, rows: FunctionRows): number[] {
	const found: number[] = [];
	for (let row = 0; row < rows.count; row++) if (rows.fn[row] === fn && rows.line[row] > 0) found.push(row);
	return found.sort((a, b) => rows.self[b] - rows.self[a] || rows.total[b] - rows.total[a]).slice(0, MOST);
}

export function HotLines({ page, fn }: { page: Page; fn: number }): JSX.Element | null {
	const { functions, sources } = page.profile;
	const file = fn < functions.count ? functions.file[fn] : 0;
	return file === 0 ? null : <Lines page={page} fn={fn} file={file} key={sources.has(file) ? "text" : "lines"} />;
}

function Lines({ page, fn, file }: { page: Page; fn: number; file: number }): JSX.Element | null {
	const rows = page.shown.lineRows();
	const texts = useMemo(
		() => new Map(sourceRows(page.profile.sources.get(file), []).map((row) => [row.line, row.text ?? ""])),
		[page.profile, file],
	);
	const best = linesOf(fn, rows);
	if (best.length === 0) return null;
	return (
		<section>
			<h3>Its lines (self, total)</h3>
			<ul class="hot-lines">
				{best.map((i) => (
					<li key={i}>
						<span class="number">{percent(rows.self[i] / page.shown.whole)}</span>
						<span class="number muted">{percent(rows.total[i] / page.shown.whole)}</span>
						<button
							type="button"
							class="link mono cut"
							onClick={() => page.change({ view: "source", file, line: rows.line[i] })}
						>
							{rows.line[i]} {codeParts((texts.get(rows.line[i]) ?? "").trim(), -1, -1).before}
						</button>
					</li>
				))}
			</ul>
		</section>
	);
}
