// SPDX-License-Identifier: Apache-2.0
/* What is shown as Markdown, for an issue or a pull request: rows of functions as `plumb report --markdown` writes them
 * (src/export/markdown.c). Every name stands inside a code span or block, where Markdown and HTML mean nothing; what
 * could end one is replaced. */

import { Origin } from "../data/profile";
import type { Steps } from "../data/steps";
import { hottestRow } from "../model/functions";
import { display, unknownLine } from "../model/names";
import { percent, sharePm, time, timePm } from "../model/numbers";
import { nodeAt, pathOf } from "../model/tree";
import { commandOf } from "./commandText";
import { wordsOf } from "./crumbs";
import { orderedRows } from "./functionOrder";
import { captionOf } from "./Header";
import type { Page } from "./page";
import { isTime, valueText } from "./units";

const ROWS = 10;
const NAME_COLUMNS = 80;

/** `NAME`, or `NAME:LINE`; what is longer than `most` columns is cut at its end. */
export function span(name: string, line = 0, most = NAME_COLUMNS): string {
	let said = "";
	let columns = 0;
	for (const character of name) {
		if (columns >= most) break;
		const shown = display(character).replace("`", "'").replace("|", "!");
		said += shown;
		columns += shown === character ? 1 : shown.length;
	}
	if (columns >= most) said += "…";
	return `\`${said === "" ? "?" : said}${line > 0 ? `:${String(line)}` : ""}\``;
}

/** The rows that are told: in the view of functions those on top of it, else those with most self time. */
function rowsToTell({ profile, state, shown }: Page): { told: number[]; all: number } {
	const rows = shown.rows();
	const asShown = state.view === "functions";
	const sort = asShown ? state.sort : ({ column: "self", descending: true } as const);
	const order = [...orderedRows(profile, rows, sort, asShown ? shown.search().rows : null)];
	const counted = asShown && sort.column !== "self" ? order : order.filter((row) => rows.self[row] > 0);
	return { told: counted.slice(0, ROWS), all: counted.length };
}

/** What times are multiplied by, as in the text report, to allow for what was missed. */
function scaleOf({ profile: { meta } }: Page): number {
	return meta.time_scale ?? 1;
}

/** As the text report names stacks whose inner part could not be proved. */
function nameOf({ names, profile: { functions } }: Page, fn: number): string {
	const name = names.full(fn);
	return name === "<moving>" && functions.origin[fn] === Origin.marker ? "[not resolved]" : name;
}

/** Where the function begins, or its line. */
function placeText(page: Page, row: number): string {
	const rows = page.shown.rows();
	const line = page.state.by === "line" && rows.line[row] === 0 ? unknownLine : rows.line[row];
	const place = page.names.place(rows.fn[row], line);
	const at = /^(.*):(\d+)$/s.exec(place);
	if (place === "") return "";
	return at ? span(at[1], Number(at[2])) : span(place);
}

function rowText(page: Page, row: number, self: number, total: number): string {
	const rows = page.shown.rows();
	const { whole } = page.shown;
	const value = rows.self[row];
	const scale = scaleOf(page);
	const amount = isTime(page) ? timePm(value * scale, self * whole * scale) : valueText(page, value);
	const shares = [sharePm(value / whole, self), amount, sharePm(rows.total[row] / whole, total)];
	return `| ${[...shares, span(nameOf(page, rows.fn[row])), placeText(page, row)].join(" | ")} |`;
}

function table(page: Page): string[] {
	const { told, all } = rowsToTell(page);
	if (told.length === 0) return [];
	const { self, total } = page.shown.rowHalfWidths(told);
	const what = `${page.state.by === "line" ? "line" : "function"} (${String(told.length)} of ${String(all)})`;
	return [
		"",
		`| self | ${isTime(page) ? "time" : "samples"} | total | ${what} | where |`,
		"|--:|--:|--:|:--|:--|",
		...told.map((row, i) => rowText(page, row, self[i], total[i])),
	];
}

/** The function with most self time, in words. */
function sentence(page: Page): string[] {
	const { shown, state, profile } = page;
	const rows = shown.rows();
	const row = hottestRow(rows);
	if (row < 0) return ["", `No samples ${profile.cells.count === 0 ? "were taken" : "pass the filters"}.`];
	const [half] = shown.rowHalfWidths([row]).self;
	const line = state.by === "line" && rows.line[row] > 0 ? `, line ${String(rows.line[row])},` : "";
	const timed = isTime(page) ? ` (${time(rows.self[row] * scaleOf(page))})` : "";
	const share = sharePm(rows.self[row] / shown.whole, half);
	return ["", `Most self time: ${span(nameOf(page, rows.fn[row]))}${line} with **${share}**${timed}.`];
}

/** The frames of the box or row that is chosen, callers first. Every line begins with a figure, so that no name can end
 * the block. */
function stack({ shown, state, names }: Page): string[] {
	const tree = shown.shownTree();
	const node = state.at ? nodeAt(tree, state.at) : -1;
	if (node < 0) return [];
	const lines = pathOf(tree, node).map((one) => {
		const place = names.place(tree.fn[one], tree.line[one]);
		const share = percent(tree.total[one] / tree.whole).padStart(7);
		return display(`${share}  ${names.full(tree.fn[one])}${place === "" ? "" : `  ${place}`}`);
	});
	const heading = state.inverted ? "from the innermost function to its callers" : "from callers to callees";
	return ["", `The chosen stack, ${heading}, with shares of the total:`, "", "```text", ...lines, "```"];
}

/** What was done to the tree, for which the command line has no words, and what counts, as a command. */
function filters(page: Page): string[] {
	const { meta } = page.profile;
	const changes = page.state.transforms.map((one) => {
		const [verb, name] = wordsOf(page, one);
		return `- ${verb}${name === "" ? "" : ` ${span(name)}`}`;
	});
	const changed = changes.length > 0 ? ["", "The tree was changed:", "", ...changes] : [];
	if (meta.imported || page.report.diff) return changed;
	return [...changed, "", "```sh", commandOf(page), "```"];
}

/** Makes what `markdownOf` tells, where that takes long. */
export function* aheadOfMarkdown(page: Page): Steps<void> {
	yield* page.shown.aheadOfTables();
	const row = hottestRow(page.shown.rows());
	if (row >= 0) yield* page.shown.aheadOfRows([row, ...rowsToTell(page).told]);
}

/** Of the whole recording, whatever is filtered. Names may stand in them. */
function findings({ profile }: Page): string[] {
	return (profile.meta.findings ?? []).flatMap(({ sentence: text }) => ["", `**${span(text, 0, Infinity)}**`]);
}

export function markdownOf(page: Page): string {
	const title = `### plumb: ${span(captionOf(page), 0, Infinity)}`;
	const parts = [findings, sentence, stack, table, filters].flatMap((part) => part(page));
	return `${[title, ...parts].join("\n")}\n`;
}
