// SPDX-License-Identifier: Apache-2.0
/* What the tables of the statistics that list what was waited for have in common: the heading, what the figures are of,
 * and the box that scrolls. The one that is asked for is scrolled to and marked. */

import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import type { Table } from "../state/state";
import type { Page } from "./page";
import { brief } from "./text";

/** A heading: of figures, of words (which begin on the left), or of words and not seen. */
export type Column = string | { readonly words: string; readonly unseen?: boolean };

function Head({ column }: { column: Column }): JSX.Element {
	if (typeof column === "string") return <th scope="col">{column}</th>;
	return (
		<th scope="col" class="left">
			{column.unseen ? <span class="unseen">{column.words}</span> : column.words}
		</th>
	);
}

interface TableProps {
	label: string;
	columns: readonly Column[];
	children: ComponentChildren;
}

export function FigureTable({ label, columns, children }: TableProps): JSX.Element {
	return (
		<div class="table-box" tabIndex={0} role="region" aria-label={label}>
			<table class="figure-table">
				<thead>
					<tr>
						{columns.map((column, i) => (
							<Head key={i} column={column} />
						))}
					</tr>
				</thead>
				<tbody>{children}</tbody>
			</table>
		</div>
	);
}

interface SectionProps {
	page: Page;
	table: Table;
	title: string;
	about: string;
	children: ComponentChildren;
}

export function FigureSection({ page, table, title, about, children }: SectionProps): JSX.Element {
	const section = useRef<HTMLElement>(null);
	const asked = page.state.asked?.table === table ? page.state.asked : null;
	useLayoutEffect(() => {
		if (!asked) return;
		section.current?.scrollIntoView({ block: "start" });
		section.current?.querySelector<HTMLElement>(".table-box")?.focus({ preventScroll: true });
	}, [asked]);
	return (
		<section ref={section} class={asked ? "asked" : ""} data-table={table}>
			<h2>{title}</h2>
			<p class="muted">{about}</p>
			{children}
		</section>
	);
}

/** The file without its folders, and the line; nothing where it is not known. */
export function PlaceCell({ place }: { place: { file: string; line: number } | null }): JSX.Element {
	const file = place?.file ?? "";
	return (
		<td class="left" title={brief(file, 400)}>
			{place ? `${brief(file.slice(file.lastIndexOf("/") + 1), 60)}:${place.line}` : ""}
		</td>
	);
}
