// SPDX-License-Identifier: Apache-2.0
/* Mouse, pen and touch over an element, told as what is meant: a tap, a drag, a turn of the wheel. Vertical dragging
 * by touch is left to the browser, which scrolls (`touch-action: pan-y pinch-zoom`). Points are in CSS pixels from
 * the upper left corner of the element. */

export interface Point {
	x: number;
	y: number;
}

export interface Gestures {
	tap(point: Point, touch: boolean): void;
	doubleTap(point: Point, touch: boolean): void;
	hover(point: Point | null): void;
	/** By how much the pointer moved since the last call. */
	drag(dx: number, dy: number): void;
	/** Above 1: further away. */
	zoom(factor: number, point: Point): void;
	/** Sideways, in pixels. */
	pan(dx: number): void;
	menu(point: Point, page: Point): void;
}

/** A pointer that moves less has been held still. */
const STILL = 4;
const DOUBLE_TAP_MS = 350;
const DOUBLE_TAP_NEAR = 24;
const WHEEL_STEP = 0.0016;

function pointIn(element: HTMLElement, event: MouseEvent): Point {
	const rect = element.getBoundingClientRect();
	return { x: event.clientX - rect.left, y: event.clientY - rect.top };
}

interface Press {
	id: number;
	start: Point;
	last: Point;
	moved: boolean;
}

interface Tap extends Point {
	time: number;
}

function listenPresses(element: HTMLElement, gestures: Gestures, signal: AbortSignal): void {
	let press: Press | null = null;
	let before: Tap | null = null;

	function release(event: PointerEvent): void {
		if (!press || event.pointerId !== press.id) return;
		const moved = press.moved;
		press = null;
		if (moved) return;
		const point = pointIn(element, event);
		const touch = event.pointerType === "touch";
		const again = before !== null && event.timeStamp - before.time < DOUBLE_TAP_MS
			&& Math.hypot(point.x - before.x, point.y - before.y) < DOUBLE_TAP_NEAR;
		before = again ? null : { ...point, time: event.timeStamp };
		if (again) gestures.doubleTap(point, touch);
		else gestures.tap(point, touch);
	}
	function move(event: PointerEvent): void {
		const point = pointIn(element, event);
		if (!press) {
			if (event.pointerType !== "touch") gestures.hover(point);
			return;
		}
		if (event.pointerId !== press.id) return;
		if (!press.moved && Math.hypot(point.x - press.start.x, point.y - press.start.y) < STILL) return;
		if (!press.moved) element.setPointerCapture(press.id);
		press.moved = true;
		gestures.drag(point.x - press.last.x, point.y - press.last.y);
		press.last = point;
	}
	element.addEventListener("pointerdown", (event) => {
		if (event.button !== 0 || !event.isPrimary) return;
		const point = pointIn(element, event);
		press = { id: event.pointerId, start: point, last: point, moved: false };
	}, { signal });
	element.addEventListener("pointermove", move, { signal });
	element.addEventListener("pointerup", release, { signal });
	element.addEventListener("pointercancel", () => (press = null), { signal });
	element.addEventListener("pointerleave", () => gestures.hover(null), { signal });
}

function listenWheel(element: HTMLElement, gestures: Gestures, signal: AbortSignal): void {
	element.addEventListener("wheel", (event) => {
		if (event.ctrlKey || event.metaKey) {
			event.preventDefault();
			gestures.zoom(Math.exp(event.deltaY * WHEEL_STEP), pointIn(element, event));
		} else if (event.deltaX !== 0 || event.shiftKey) {
			event.preventDefault();
			gestures.pan(event.deltaX || event.deltaY);
		}
	}, { signal, passive: false });
}

export function listenPointer(element: HTMLElement, gestures: Gestures, signal: AbortSignal): void {
	listenPresses(element, gestures, signal);
	listenWheel(element, gestures, signal);
	element.addEventListener("contextmenu", (event) => {
		event.preventDefault();
		gestures.menu(pointIn(element, event), { x: event.clientX, y: event.clientY });
	}, { signal });
}
