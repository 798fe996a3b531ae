// SPDX-License-Identifier: Apache-2.0
/* What can be taken away from the page. */

import type { JSX } from "preact";

import { pngOf, svgOf } from "../canvas/picture";
import { copy } from "./actions";
import { commandOf } from "./commandText";
import { copyMarkdown } from "./copyMarkdown";
import { embedded } from "./embedded";
import { captionOf } from "./Header";
import { NoteBox } from "./LinkNote";
import type { Page } from "./page";
import { Popover } from "./Popover";

function save(blob: Blob, name: string): void {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** A name of a file from that of the program, without what file systems mind. */
function fileName(page: Page, ending: string): string {
	const program = page.profile.meta.processes[0]?.name ?? "";
	const plain = program.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 60);
	return `plumb${plain === "" ? "" : `-${plain}`}-${page.state.view}.${ending}`;
}

function saveSvg(page: Page): void {
	const scene = page.picture.current?.();
	if (!scene) return;
	save(new Blob([svgOf(scene, captionOf(page))], { type: "image/svg+xml" }), fileName(page, "svg"));
}

async function savePng(page: Page): Promise<void> {
	const scene = page.picture.current?.();
	if (!scene) return;
	try {
		save(await pngOf(scene, captionOf(page)), fileName(page, "png"));
	} catch (error) {
		page.say(error instanceof Error ? error.message : "The picture could not be made.");
	}
}

type Item = (act: () => void) => () => void;

function SaveItems({ page, item }: { page: Page; item: Item }): JSX.Element {
	const drawn = ["flame", "chart", "sandwich", "diff"].includes(page.state.view);
	return (
		<>
			<button
				type="button"
				onClick={item(() =>
					save(new Blob([page.shown.collapsed()], { type: "text/plain" }), fileName(page, "folded")),
				)}
			>
				Save as collapsed text
			</button>
			<button type="button" disabled={!drawn} onClick={item(() => saveSvg(page))}>
				Save picture as SVG
			</button>
			<button type="button" disabled={!drawn} onClick={item(() => void savePng(page))}>
				Save picture as PNG
			</button>
		</>
	);
}

export function SaveMenu({ page }: { page: Page }): JSX.Element {
	const before = (close: () => void): Item => (act) => () => {
		close();
		act();
	};
	const entries = (item: Item): JSX.Element => (
		<div class="menu-list">
			{!embedded() && (
				<button type="button" onClick={item(() => void copy(page, location.href, "a link to this view"))}>
					Copy link to this view
				</button>
			)}
			<button
				type="button"
				onClick={item(() => void copy(page, page.shown.collapsed(), "the stacks shown, as collapsed text"))}
			>
				Copy as collapsed text
			</button>
			<button
				type="button"
				title="for an issue: what takes most, the chosen stack, the table of functions (Y)"
				onClick={item(() => copyMarkdown(page))}
			>
				Copy as Markdown
			</button>
			{page.report.diff || page.profile.meta.imported ? null : (
				<button
					type="button"
					title="plumb report with these filters; it has no words for changes of the tree"
					onClick={item(() => void copy(page, commandOf(page), "the command that reports the same"))}
				>
					Copy as command
				</button>
			)}
			{!embedded() && <SaveItems page={page} item={item} />}
			{!embedded() && <NoteBox page={page} />}
		</div>
	);
	return (
		<Popover label="Share" title="Copy or save what is shown" align="right">
			{(close) => entries(before(close))}
		</Popover>
	);
}
