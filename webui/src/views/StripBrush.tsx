// SPDX-License-Identifier: Apache-2.0
/* Choosing a part of the timeline: by dragging over it, or by its two ends, which are sliders for the keyboard. */

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Point } from "../canvas/pointer";
import { dragged, endMoved, holdAt, orNone, positionOf, type Axis, type Hold, type Span } from "../canvas/brush";

interface Props {
	axis: Axis;
	span: Span | null;
	onChoose: (span: Span | null) => void;
	/** Where the pointer is, in pixels of the axis and in the window. */
	onHover: (x: number, at: Point) => void;
	/** It is elsewhere, or drags. */
	onLeave: () => void;
	/** A click that changes no range. */
	onPick: (x: number, at: Point) => void;
}

/** Fingers are wider than pointers. */
const NEAR = { mouse: 6, pen: 8, touch: 20 } as const;
const STILL = 3;

interface Press {
	hold: Hold;
	x: number;
	moved: boolean;
}

function nearOf(event: PointerEvent): number {
	return event.pointerType === "touch" ? NEAR.touch : event.pointerType === "pen" ? NEAR.pen : NEAR.mouse;
}

function stepOfKey(event: KeyboardEvent, axis: Axis): number {
	const step = Math.max(axis.unit, axis.duration / (event.shiftKey ? 10 : 100));
	switch (event.key) {
		case "ArrowLeft": case "ArrowDown": return -step;
		case "ArrowRight": case "ArrowUp": return step;
		case "PageDown": return -axis.duration / 10;
		case "PageUp": return axis.duration / 10;
		case "Home": return -axis.duration;
		case "End": return axis.duration;
		default: return 0;
	}
}

function pointOf(event: PointerEvent): Point {
	return { x: event.clientX, y: event.clientY };
}

function seconds(ns: number): string {
	return `${(ns / 1e9).toFixed(3)} s`;
}

export function StripBrush({ axis, span, onChoose, onHover, onLeave, onPick }: Props): JSX.Element {
	const box = useRef<HTMLDivElement>(null);
	const press = useRef<Press | null>(null);
	/* While it is dragged nothing else follows: a filter for each pixel would be many. */
	const [dragging, setDragging] = useState<Span | null>(null);
	const shown = dragging ?? span;

	const xOf = (event: PointerEvent): number => event.clientX - (box.current?.getBoundingClientRect().left ?? 0);
	const onPointerDown = (event: PointerEvent): void => {
		onLeave();
		if (event.button !== 0) return;
		const x = xOf(event);
		press.current = { hold: holdAt(axis, span, x, nearOf(event)), x, moved: false };
		box.current?.setPointerCapture(event.pointerId);
	};
	const onPointerMove = (event: PointerEvent): void => {
		const held = press.current;
		if (!held) {
			if (event.pointerType !== "touch") onHover(xOf(event), pointOf(event));
			return;
		}
		held.moved ||= Math.abs(xOf(event) - held.x) >= STILL;
		if (held.moved) setDragging(dragged(axis, held.hold, xOf(event)));
	};
	const onPointerUp = (event: PointerEvent): void => {
		const held = press.current;
		press.current = null;
		setDragging(null);
		if (held?.moved) onChoose(orNone(axis, dragged(axis, held.hold, xOf(event))));
		else if (held?.hold.part === "new" && span) onChoose(null);
		else if (held) onPick(xOf(event), pointOf(event));
	};
	const onPointerCancel = (): void => {
		press.current = null;
		setDragging(null);
	};
	const onKeyDown = (end: "from" | "to", event: KeyboardEvent): void => {
		const step = stepOfKey(event, axis);
		if (event.key === "Escape" && span) onChoose(null);
		else if (step !== 0) onChoose(orNone(axis, endMoved(axis, span ?? [0, axis.duration], end, step)));
		else return;
		event.preventDefault();
		event.stopPropagation();
	};
	const [from, to] = shown ?? [0, axis.duration];
	const handle = (end: "from" | "to", value: number): JSX.Element => (
		<div
			class={shown ? `strip-handle ${end}` : `strip-handle ${end} resting`}
			role="slider"
			tabIndex={0}
			aria-label={end === "from" ? "Start of the time range" : "End of the time range"}
			aria-valuemin={0}
			aria-valuemax={axis.duration / 1e9}
			aria-valuenow={value / 1e9}
			aria-valuetext={seconds(value)}
			style={{ left: `${positionOf(axis, value)}px` }}
			onKeyDown={(event) => onKeyDown(end, event)}
		/>
	);
	return (
		<div
			ref={box}
			class="strip-brush"
			onPointerDown={onPointerDown}
			onPointerMove={onPointerMove}
			onPointerUp={onPointerUp}
			onPointerCancel={onPointerCancel}
			onPointerLeave={onLeave}
		>
			{shown ? <div class="strip-outside" style={{ left: "0", width: `${positionOf(axis, from)}px` }} /> : null}
			{shown ? <div class="strip-outside" style={{ left: `${positionOf(axis, to)}px`, right: "0" }} /> : null}
			{handle("from", from)}
			{handle("to", to)}
		</div>
	);
}
