// SPDX-License-Identifier: Apache-2.0
/* What is known of the box under the pointer. It never takes the pointer itself. */

import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface TipText {
	title: string;
	/** File and line, or what else says where. */
	place: string;
	figures: readonly (readonly [label: string, value: string])[];
	/** A line of source, as it stands there. */
	source: string | null;
	note: string | null;
}

interface Props {
	text: TipText;
	/** In the window. */
	x: number;
	y: number;
}

const AWAY = 14;
const EDGE = 8;

/** Right of the pointer and below it, or on the other side where that is outside of the window. */
function put(box: HTMLElement, x: number, y: number): void {
	const { width, height } = box.getBoundingClientRect();
	const right = x + AWAY + width + EDGE > window.innerWidth;
	const below = y + AWAY + height + EDGE > window.innerHeight;
	box.style.left = `${Math.max(EDGE, right ? x - AWAY - width : x + AWAY)}px`;
	box.style.top = `${Math.max(EDGE, below ? y - AWAY - height : y + AWAY)}px`;
}

export function Tip({ text, x, y }: Props): JSX.Element {
	const box = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		if (box.current) put(box.current, x, y);
	});
	return (
		<div ref={box} class="tip" role="tooltip">
			<div class="tip-title">{text.title}</div>
			{text.place === "" ? null : <div class="tip-place">{text.place}</div>}
			<dl class="tip-figures">
				{text.figures.map(([label, value], i) => (
					<div key={i}>
						<dt>{label}</dt>
						<dd>{value}</dd>
					</div>
				))}
			</dl>
			{text.source === null ? null : <pre class="tip-source">{text.source}</pre>}
			{text.note === null ? null : <div class="tip-note">{text.note}</div>}
		</div>
	);
}
