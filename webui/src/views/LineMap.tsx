// SPDX-License-Identifier: Apache-2.0
/* Where in the file the time went, at a glance. It stands beside the scroll bar of the lines and is as high, so that
 * the one tells which part of the other is seen. For a pointer: by keyboard `n` and `p` go from line to line. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import type { FileLines } from "../model/lines";
import { lineMarks, markNear } from "./lineMarks";
import type { SourceRow } from "./sourceRows";

const PARTS = 200;
const REACH = 4;
/** In pixels: a mark is as high at least, from its place downwards. */
const MARK = 3;

interface Props {
	rows: readonly SourceRow[];
	lines: FileLines;
	hottest: number;
	/** In pixels: a short file has a short map. */
	rowHeight: number;
	/** The row to go to. */
	onGo: (row: number) => void;
}

export function LineMap({ rows, lines, hottest, rowHeight, onGo }: Props): JSX.Element {
	const marks = useMemo(() => lineMarks(rows, lines.self, PARTS), [rows, lines]);
	const go = (event: MouseEvent & { currentTarget: HTMLElement }): void => {
		const box = event.currentTarget.getBoundingClientRect();
		const part = Math.floor(((event.clientY - MARK / 2 - box.top) / box.height) * PARTS);
		const near = markNear(marks, part, REACH);
		onGo(near ? near.row : Math.max(0, Math.floor((part * rows.length) / PARTS)));
	};
	return (
		<div
			class="line-map"
			aria-hidden="true"
			title="Where in the file the time went"
			style={{ maxHeight: `${rows.length * rowHeight}px` }}
			onClick={go}
		>
			{marks.map(({ part, self }) => (
				<i
					key={part}
					style={{ top: `${(100 * part) / PARTS}%`, "--much": (0.25 + 0.75 * (self / hottest)).toFixed(3) }}
				/>
			))}
		</div>
	);
}
