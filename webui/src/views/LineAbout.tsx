// SPDX-License-Identifier: Apache-2.0
/* What is known of one line: its figures, its expressions, who called it and what it called, its instructions. */

import type { ComponentChildren, JSX } from "preact";

import type { LineLink } from "../model/lines";
import { count, percent, sharePm } from "../model/numbers";
import type { FileLines } from "../model/lines";
import { codeParts } from "./codeText";
import { Swatch } from "./Swatch";
import type { Page } from "./page";
import { brief } from "./text";
import { valueText } from "./units";

const MOST = 12;

function Part({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
	return (
		<section>
			<h3>{title}</h3>
			<dl class="pairs">{children}</dl>
		</section>
	);
}

function Links({
	page,
	title,
	links,
}: {
	page: Page;
	title: string;
	links: readonly LineLink[];
}): JSX.Element | null {
	if (links.length === 0) return null;
	const { functions } = page.profile;
	const jump = ({ fn, line }: LineLink): void => {
		const file = fn < functions.count ? functions.file[fn] : 0;
		if (file === 0) page.change({ selected: fn, at: null });
		else page.change({ selected: fn, at: null, file, line });
	};
	return (
		<Part title={title}>
			{links.slice(0, MOST).map((link) => (
				<>
					<dt class="named">
						<Swatch page={page} fn={link.fn} />
						<button type="button" class="link name" onClick={() => jump(link)}>
							{brief(page.names.full(link.fn), 80)}
						</button>
						<span class="muted name">{brief(page.names.place(link.fn, link.line), 80)}</span>
					</dt>
					<dd class="number">{percent(link.value / page.shown.whole)}</dd>
				</>
			))}
			{links.length > MOST ? <dt class="muted">{links.length - MOST} more</dt> : null}
		</Part>
	);
}

function textOfLine(page: Page, line: number): string {
	for (const { firstLine, lines } of page.profile.sources.get(page.state.file ?? -1)?.ranges ?? []) {
		const text = lines[line - firstLine];
		if (text !== undefined) return text;
	}
	return "";
}

function Expressions({
	page,
	lines,
	index,
	line,
}: {
	page: Page;
	lines: FileLines;
	index: number;
	line: number;
}): JSX.Element | null {
	const all = lines.expressions(index);
	const text = textOfLine(page, line);
	if (all.length < 2 || text === "") return null;
	return (
		<Part title="Expressions (self)">
			{all.slice(0, MOST).map((one) => {
				const { before, inside } = codeParts(text, one.column, one.endLine > line ? -1 : one.endColumn);
				return (
					<>
						<dt class="mono cut">{brief((inside === "" ? before : inside).trim(), 120)}</dt>
						<dd class="number">{percent(one.self / page.shown.whole)}</dd>
					</>
				);
			})}
		</Part>
	);
}

export function LineAbout({ page, lines, line }: { page: Page; lines: FileLines; line: number }): JSX.Element {
	const index = lines.lines.indexOf(line);
	if (index < 0) return <div class="line-about muted">Line {line} was not sampled.</div>;
	const { self, total } = lines.figures(index);
	const opcodes = lines.opcodes(index);
	return (
		<div class="line-about" role="region" aria-label={`About line ${line}`} tabIndex={0}>
			<h2>Line {line}</h2>
			<p class="line-figures">
				self <b>{sharePm(self.share, self.halfWidth)}</b> ({valueText(page, self.value)}), total{" "}
				<b>{sharePm(total.share, total.halfWidth)}</b> ({valueText(page, total.value)})
			</p>
			<div class="columns">
				<Links page={page} title="Called from" links={lines.callers(index)} />
				<Links page={page} title="Calls" links={lines.callees(index)} />
				<Expressions page={page} lines={lines} index={index} line={line} />
				{opcodes.length === 0 ? null : (
					<Part title="Instructions (samples)">
						{opcodes.slice(0, MOST).map((one) => (
							<>
								<dt class="mono">{one.name}</dt>
								<dd class="number">{count(one.samples)}</dd>
							</>
						))}
					</Part>
				)}
			</div>
		</div>
	);
}
