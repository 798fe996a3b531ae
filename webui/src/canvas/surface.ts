// SPDX-License-Identifier: Apache-2.0
/* Canvases that have as many pixels as the screen has there, and that are drawn once a frame at most. */

export interface Surface {
	context: CanvasRenderingContext2D;
	/** Device pixels of a CSS pixel. */
	scale: number;
}

/** Gives the canvas a size in CSS pixels; null where the browser has no canvas. What is drawn on an opaque one need not
 * be mixed with what is below it. */
export function fitCanvas(
	canvas: HTMLCanvasElement, width: number, height: number, opaque: boolean,
): Surface | null {
	const scale = window.devicePixelRatio || 1;
	const across = Math.max(1, Math.round(width * scale));
	const down = Math.max(1, Math.round(height * scale));
	if (canvas.width !== across) canvas.width = across;
	if (canvas.height !== down) canvas.height = down;
	canvas.style.width = `${width}px`;
	canvas.style.height = `${height}px`;
	const context = canvas.getContext("2d", { alpha: !opaque });
	return context && { context, scale };
}

/** Once what was drawn is on the screen. */
export function afterFrame(then: () => void): void {
	requestAnimationFrame(() => setTimeout(then, 0));
}

export interface Schedule {
	/** Draws before the next frame is shown. */
	ask(): void;
	stop(): void;
}

export function onceAFrame(draw: () => void): Schedule {
	let asked = 0;
	return {
		ask() {
			if (asked !== 0) return;
			asked = requestAnimationFrame(() => {
				asked = 0;
				draw();
			});
		},
		stop() {
			cancelAnimationFrame(asked);
		},
	};
}
