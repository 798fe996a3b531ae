// SPDX-License-Identifier: Apache-2.0
/* When the selected function was on the stack, over some rows of the timeline. */

import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { drawRan, type HeatRow, type RanShares } from "../canvas/heat";
import { fitCanvas } from "../canvas/surface";

interface Props {
	rows: readonly HeatRow[];
	/** By row. */
	ran: RanShares;
	width: number;
	height: number;
	dark: boolean;
}

export function StripMarks({ rows, ran, width, height, dark }: Props): JSX.Element {
	const canvas = useRef<HTMLCanvasElement>(null);
	useLayoutEffect(() => {
		if (!canvas.current || width === 0) return;
		const surface = fitCanvas(canvas.current, width, height, false);
		if (surface) drawRan(surface.context, rows, ran, dark, surface.scale);
	}, [rows, ran, width, height, dark]);
	return <canvas ref={canvas} class="strip-canvas" aria-hidden="true" />;
}
