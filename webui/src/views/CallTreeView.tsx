// SPDX-License-Identifier: Apache-2.0
/* The call tree as rows that open: what the flame graph shows, for reading and for screen readers. */

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { isInlinedAt } from "../model/inlined";
import { percent } from "../model/numbers";
import { nodeAt, placeOf, type Tree } from "../model/tree";
import { ShareCell } from "./Figure";
import {
	carriedBranches,
	firstBranches,
	hasChildren,
	openRows,
	shown,
	withFound,
	withOpen,
	withSubtreeOpen,
	type Branches,
} from "./openBranches";
import { Nothing } from "./Nothing";
import type { Page } from "./page";
import { openMenuAt, stepOfKey } from "./rowKeys";
import { Swatch } from "./Swatch";
import { brief } from "./text";
import { valueText } from "./units";
import { VirtualRows } from "./VirtualRows";

const ROW = 26;
const PAGE = 20;
/** Deeper rows are not moved further to the right, but say how deep they are. */
const MOST_INDENT = 32;
const MOST_OPENED = 20_000;

/** The branches belong to a tree; when another comes they are carried over to it. */
function useBranches(tree: Tree, inverted: boolean): [Branches, (next: Branches) => void] {
	const [kept, keep] = useState(() => firstBranches(tree, inverted));
	const now = useMemo(
		() => (kept.tree === tree ? kept : carriedBranches(kept, tree, inverted)),
		[kept, tree, inverted],
	);
	return [now, keep];
}

function nameOf(page: Page, tree: Tree, node: number): string {
	return brief(page.names.full(tree.fn[node]), 300);
}

interface RowProps {
	page: Page;
	tree: Tree;
	node: number;
	index: number;
	open: boolean;
	active: boolean;
	found: boolean;
	/** Of the selected function. */
	alike: boolean;
	onSelect: () => void;
	onToggle: () => void;
}

function Row(props: RowProps): JSX.Element {
	const { page, tree, node, open } = props;
	const expandable = hasChildren(tree, node);
	const depth = tree.depth[node];
	const onMenu = (event: MouseEvent): void => {
		event.preventDefault();
		props.onSelect();
		page.openMenu(tree.fn[node], event.clientX, event.clientY);
	};
	return (
		<div
			class={`row${props.active ? " selected" : ""}${props.found ? " found" : ""}${props.alike ? " alike" : ""}`}
			id={`node-${node}`}
			role="row"
			aria-rowindex={props.index + 2}
			aria-level={depth + 1}
			aria-expanded={expandable ? open : undefined}
			aria-selected={props.active}
			onClick={props.onSelect}
			onDblClick={props.onToggle}
			onContextMenu={onMenu}
		>
			<div class="share" role="gridcell">
				<ShareCell share={tree.total[node] / tree.whole} halfWidth={null} />
			</div>
			<div class="number muted wide-only" role="gridcell">
				{valueText(page, tree.total[node])}
			</div>
			<div class="share" role="gridcell">
				<ShareCell share={tree.self[node] / tree.whole} halfWidth={null} />
			</div>
			<div class="number muted wide-only" role="gridcell">
				{valueText(page, tree.self[node])}
			</div>
			<div class="tree-name" role="gridcell" style={{ "--depth": String(Math.min(depth, MOST_INDENT)) }}>
				{depth > MOST_INDENT ? <span class="muted">{depth}</span> : null}
				<span
					class={`twisty${expandable ? "" : " none"}${open ? " open" : ""}`}
					aria-hidden="true"
					onClick={(event) => {
						event.stopPropagation();
						props.onToggle();
					}}
				/>
				<Swatch page={page} fn={tree.fn[node]} />
				<span class="cut name">{nameOf(page, tree, node)}</span>
				{isInlinedAt(page.profile, tree, node) ? <span class="muted">(inlined)</span> : null}
				<span class="cut muted name">{brief(page.names.place(tree.fn[node], tree.line[node]), 120)}</span>
			</div>
		</div>
	);
}

function Head({ inverted }: { inverted: boolean }): JSX.Element {
	return (
		<div class="row head" role="row" aria-rowindex={1}>
			<div class="number muted" role="columnheader">
				Total
			</div>
			<div class="wide-only" role="columnheader">
				<span class="unseen">Total, time or samples</span>
			</div>
			<div class="number muted" role="columnheader">
				Self
			</div>
			<div class="wide-only" role="columnheader">
				<span class="unseen">Self, time or samples</span>
			</div>
			<div class="muted" role="columnheader">
				{inverted ? "Function, its callers below it" : "Function, what it calls below it"}
			</div>
		</div>
	);
}

/** The next row of the given direction that was found, or -1. */
function nextFound(page: Page, tree: Tree, from: number, step: 1 | -1): number {
	const { rows } = page.shown.search();
	if (!rows) return -1;
	for (let node = from + step; node >= 0 && node < tree.count; node += step) {
		if (rows[tree.fn[node]] && tree.total[node] > 0) return node;
	}
	return -1;
}

export function CallTreeView({ page }: { page: Page }): JSX.Element {
	const { state } = page;
	const tree = page.shown.shownTree();
	const [kept, setBranches] = useBranches(tree, state.inverted);
	const node = state.at ? nodeAt(tree, state.at) : -1;
	const branches = useMemo(() => (node < 0 ? kept : shown(kept, node)), [kept, node]);
	useEffect(() => {
		if (branches !== kept) setBranches(branches);
	}, [branches]);
	const rows = useMemo(() => openRows(branches), [branches]);
	const active = rows.indexOf(node);
	const found = page.shown.search().rows;
	useEffect(() => {
		if (found) setBranches(withFound(branches, found));
	}, [tree, state.search, state.regex]);

	const select = (next: number | undefined): void => {
		if (next !== undefined && next >= 0) page.change({ selected: tree.fn[next], at: placeOf(tree, next) });
	};
	const toggle = (which: number): void => setBranches(withOpen(branches, [which], branches.open[which] ? 0 : 1));
	const moveSide = (right: boolean): void => {
		if (node < 0) return;
		if (right && hasChildren(tree, node)) {
			if (branches.open[node]) select(rows[active + 1]);
			else toggle(node);
		} else if (!right) {
			if (branches.open[node] && hasChildren(tree, node)) toggle(node);
			else select(tree.parent[node]);
		}
	};
	const onKeyDown = (event: KeyboardEvent): void => {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const step = stepOfKey(event, active, rows.length, PAGE);
		if (step !== null) select(rows[step]);
		else if (event.key === "ArrowRight" || event.key === "ArrowLeft") moveSide(event.key === "ArrowRight");
		else if (event.key === "Enter" && node >= 0) toggle(node);
		else if (event.key === "*" && node >= 0) setBranches(withSubtreeOpen(branches, node, MOST_OPENED));
		else if (event.key === "n") select(nextFound(page, tree, node, 1));
		else if (event.key === "p") select(nextFound(page, tree, node, -1));
		else if (!openMenuAt(event, page, node < 0 ? -1 : tree.fn[node], `node-${node}`)) return;
		event.preventDefault();
	};

	if (rows.length === 0) return <Nothing page={page} text="No samples pass the filters." />;
	return (
		<VirtualRows
			class="tree"
			role="treegrid"
			label={`Call tree, ${percent(1)} is all time that passes the filters`}
			columns={5}
			count={rows.length}
			rowHeight={ROW}
			active={active}
			activeId={active < 0 ? undefined : `node-${node}`}
			header={<Head inverted={state.inverted} />}
			onKeyDown={onKeyDown}
			rows={(first, last) =>
				rows
					.slice(first, last)
					.map((one, i) => (
						<Row
							key={one}
							page={page}
							tree={tree}
							node={one}
							index={first + i}
							open={branches.open[one] === 1}
							active={one === node}
							found={found?.[tree.fn[one]] === 1}
							alike={tree.fn[one] === state.selected}
							onSelect={() => select(one)}
							onToggle={() => toggle(one)}
						/>
					))
			}
		/>
	);
}
