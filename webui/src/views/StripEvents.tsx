// SPDX-License-Identifier: Apache-2.0
/* What happened, as small marks on the axis of the timeline. One of them is in the tab order; arrow keys go on. */

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { instant } from "../canvas/axis";
import { type EventMark, markSaid } from "../model/events";
import { display } from "../model/names";
import { Tip } from "./Tip";

interface Props {
	marks: readonly EventMark[];
	duration: number;
	/** Of the sum of all threads with the axis below it. */
	height: number;
}

/** Names are the program's: nothing in them is taken for anything else. */
function said(mark: EventMark): string {
	return markSaid(mark).split("\n").map((line) => display(line)).join("\n");
}

interface Told {
	readonly mark: EventMark;
	readonly x: number;
	readonly y: number;
}

export function StripEvents({ marks, duration, height }: Props): JSX.Element {
	const row = useRef<HTMLDivElement>(null);
	const [current, setCurrent] = useState(0);
	const [told, setTold] = useState<Told | null>(null);
	const tell = (mark: EventMark, button: HTMLElement): void => {
		const { left, bottom } = button.getBoundingClientRect();
		setTold({ mark, x: left, y: bottom });
	};
	const step = (event: KeyboardEvent): void => {
		const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
		if (by === undefined) return;
		event.preventDefault();
		event.stopPropagation();
		const next = Math.min(marks.length - 1, Math.max(0, Math.min(current, marks.length - 1) + by));
		setCurrent(next);
		(row.current?.children[next] as HTMLElement | undefined)?.focus();
	};
	return (
		<div class="strip-events">
			<div ref={row} style={{ height: `${height}px` }} role="group" aria-label="Events" onKeyDown={step}>
				{marks.map((mark, i) => (
					<button
						key={mark.at}
						type="button"
						class="strip-event"
						style={{ left: `${mark.at * 100}%` }}
						tabIndex={i === Math.min(current, marks.length - 1) ? 0 : -1}
						aria-label={`${instant(mark.at * duration, duration / 1000)}: ${said(mark)}`}
						onFocus={(e) => tell(mark, e.currentTarget)}
						onBlur={() => setTold(null)}
						onPointerEnter={(e) => tell(mark, e.currentTarget)}
						onPointerLeave={() => setTold(null)}
					/>
				))}
			</div>
			{told ? (
				<Tip
					text={{
						title: told.mark.events.length > 1 ? `${told.mark.events.length} events` : "Event",
						place: instant(told.mark.at * duration, duration / 1000),
						figures: [],
						source: said(told.mark),
						note: null,
					}}
					x={told.x}
					y={told.y}
				/>
			) : null}
		</div>
	);
}
