// SPDX-License-Identifier: Apache-2.0
/* Everything about the selected function; without one, where to begin. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { inlinedIn } from "../model/inlined";
import { percent, sharePm } from "../model/numbers";
import { childrenOf, nodeAt, pathOf, type Tree } from "../model/tree";
import { actions, copy, openSource } from "./actions";
import { BeginningOfDiff, ChangeOfFunction } from "./DetailsOfDiff";
import { EditorLink } from "./EditorLink";
import { FunctionLink } from "./FunctionLink";
import { heaviestRows } from "./functionOrder";
import { HotLines } from "./HotLines";
import { idiomOf } from "./idioms";
import type { Page } from "./page";
import { StateBar } from "./StateBar";
import { categoryOf, Swatch } from "./Swatch";
import { brief } from "./text";
import { valueText } from "./units";
import { useSettled } from "./useSettled";
import { WhatIf } from "./WhatIf";

const FIRST = 10;
const NEAR = 6;

function placeOfFunction(page: Page, fn: number): string {
	const { functions } = page.profile;
	if (fn >= functions.count || functions.file[fn] === 0) return "";
	const line = functions.line[fn];
	return `${page.names.file(fn)}${line > 0 ? `:${line}` : ""}`;
}

/** The frames of the selected box or row, callers first, as a list for a message to somebody. */
function stackText(page: Page, tree: Tree): string | null {
	const node = page.state.at ? nodeAt(tree, page.state.at) : -1;
	if (node < 0) return null;
	const path = pathOf(tree, node);
	return path
		.map((one) => `${page.names.full(tree.fn[one])} (${page.names.place(tree.fn[one], tree.line[one])})`)
		.join("\n");
}

function Buttons({ page, fn }: { page: Page; fn: number }): JSX.Element {
	const place = placeOfFunction(page, fn);
	const stack = stackText(page, page.shown.shownTree());
	return (
		<div class="details-buttons">
			<button type="button" onClick={() => page.change({ view: "sandwich", selected: fn })}>
				Callers and callees
			</button>
			{place === "" ? null : (
				<button type="button" onClick={() => openSource(page, fn)}>
					Source
				</button>
			)}
			<button type="button" onClick={() => void copy(page, page.names.full(fn), "the name")}>
				Copy name
			</button>
			{place === "" ? null : (
				<button type="button" onClick={() => void copy(page, place, "the place")}>
					Copy place
				</button>
			)}
			{stack === null ? null : (
				<button type="button" onClick={() => void copy(page, stack, "the stack")}>
					Copy stack
				</button>
			)}
			<button
				type="button"
				aria-haspopup="menu"
				title={`${actions.length} things to do with it`}
				onClick={(event) => {
					const box = event.currentTarget.getBoundingClientRect();
					page.openMenu(fn, box.left, box.bottom);
				}}
			>
				More …
			</button>
		</div>
	);
}

function Figures({ page, fn }: { page: Page; fn: number }): JSX.Element {
	const { self, total } = page.shown.functionFigures(fn);
	return (
		<dl class="figures">
			<dt>Self</dt>
			<dd class="number">
				<b>{sharePm(self.share, self.halfWidth)}</b>
			</dd>
			<dd class="number">{valueText(page, self.value)}</dd>
			<dt>Total</dt>
			<dd class="number">
				<b>{sharePm(total.share, total.halfWidth)}</b>
			</dd>
			<dd class="number">{valueText(page, total.value)}</dd>
		</dl>
	);
}

/** The nearest callers or callees, heaviest first, with what share of the function's total they have. */
function Near({ page, title, tree, none }: { page: Page; title: string; tree: Tree; none: string }): JSX.Element {
	const near = tree.count === 0 ? [] : childrenOf(tree, 0).filter((node) => tree.total[node] > 0);
	near.sort((a, b) => tree.total[b] - tree.total[a]);
	const whole = tree.total[0] || 1;
	return (
		<section>
			<h3>{title}</h3>
			{near.length === 0 ? <p class="muted">{none}</p> : null}
			<dl class="pairs">
				{near.slice(0, NEAR).map((node) => (
					<Pair key={node} page={page} fn={tree.fn[node]} text={percent(tree.total[node] / whole)} />
				))}
			</dl>
			{near.length > NEAR ? <p class="muted">{near.length - NEAR} more in “Callers and callees”</p> : null}
		</section>
	);
}

function Pair({ page, fn, text }: { page: Page; fn: number; text: string }): JSX.Element {
	return (
		<>
			<dt class="named">
				<Swatch page={page} fn={fn} />
				<FunctionLink page={page} fn={fn} />
			</dt>
			<dd class="number">{text}</dd>
		</>
	);
}

/** What has to be added up. */
function Rest({ page, fn }: { page: Page; fn: number }): JSX.Element {
	return (
		<>
			<Figures page={page} fn={fn} />
			<WhatIf total={page.shown.functionFigures(fn).total} />
			<StateBar page={page} fn={fn} />
			<Buttons page={page} fn={fn} />
			<HotLines page={page} fn={fn} />
			<Near
				page={page}
				title="Called by (of its total)"
				tree={page.shown.callers(fn)}
				none="Nothing: stacks begin here"
			/>
			<Near
				page={page}
				title="Calls (of its total)"
				tree={page.shown.callees(fn)}
				none="Nothing that was sampled"
			/>
		</>
	);
}

/** Of a well-known function. */
function Meaning({ page, fn }: { page: Page; fn: number }): JSX.Element | null {
	const text = idiomOf(page.profile, fn);
	return text === null ? null : <p class="meaning">{text}</p>;
}

const inlinedText = {
	all: ", inlined: the compiler has put it into what called it",
	some: ", inlined in places: there the compiler has put it into what called it",
	none: "",
} as const;

function OfFunction({ page, fn }: { page: Page; fn: number }): JSX.Element {
	const place = placeOfFunction(page, fn);
	const name = brief(page.names.full(fn), 4000);
	const { profile, dark } = page;
	const { filter, transforms, startup, by, unit, inverted, at } = page.state;
	const parts = [profile, dark, filter, transforms, startup, by, unit, inverted, at, fn];
	const settled = useSettled({ page, fn }, parts, (of) => of.page.shown.aheadOf(of.fn));
	/* Kept as it is until the next one: drawing it again would add everything up again. */
	const rest = useMemo(() => (settled ? <Rest page={settled.page} fn={settled.fn} /> : null), [settled]);
	return (
		<>
			<div class="details-head">
				<h2 class="name clip">{name}</h2>
				<button
					type="button"
					class="quiet"
					aria-label="Deselect"
					title="Deselect (Escape)"
					onClick={() => page.change({ selected: null, at: null })}
				>
					✕
				</button>
			</div>
			<p class="muted clip name">{brief(place, 1000)}</p>
			{place === "" ? null : (
				<EditorLink page={page} file={page.names.file(fn)} line={page.profile.functions.line[fn]} />
			)}
			<p class="muted">
				<Swatch page={page} fn={fn} /> {categoryOf(page, fn)}
				{inlinedText[inlinedIn(profile, fn)]}
			</p>
			<Meaning page={page} fn={fn} />
			<ChangeOfFunction page={page} fn={fn} />
			<div class={settled?.fn === fn ? "" : "stale"} aria-busy={settled?.fn !== fn}>
				{rest}
			</div>
		</>
	);
}

function Heaviest({ page }: { page: Page }): JSX.Element {
	const rows = page.shown.functionRows();
	const { whole } = page.shown;
	return (
		<dl class="pairs">
			{heaviestRows(rows, FIRST).map((row) => (
				<Pair key={row} page={page} fn={rows.fn[row]} text={percent(rows.self[row] / whole)} />
			))}
		</dl>
	);
}

function Beginning({ page }: { page: Page }): JSX.Element {
	const { filter, transforms, unit } = page.state;
	const settled = useSettled(page, [page.profile, filter, transforms, unit], ({ shown }) => shown.aheadOfTables());
	const list = useMemo(() => (settled ? <Heaviest page={settled} /> : null), [settled]);
	return (
		<>
			<h2>Most self time</h2>
			{list}
			<p class="muted details-hint">Choose a function to see its callers, its lines and what it did.</p>
		</>
	);
}

function First({ page }: { page: Page }): JSX.Element {
	const { diff } = page.report;
	if (diff && page.state.view === "diff") return <BeginningOfDiff page={page} report={diff.functions} />;
	return <Beginning page={page} />;
}

export function Details({ page }: { page: Page }): JSX.Element {
	const { selected } = page.state;
	return (
		<aside class="details" aria-label="Details of the selected function" tabIndex={0}>
			{selected === null ? <First page={page} /> : <OfFunction page={page} fn={selected} />}
		</aside>
	);
}
