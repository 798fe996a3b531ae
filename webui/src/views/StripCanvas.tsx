// SPDX-License-Identifier: Apache-2.0
/* Some rows of the timeline. */

import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { drawHeat, type HeatRow } from "../canvas/heat";
import { fitCanvas } from "../canvas/surface";

interface Props {
	rows: readonly HeatRow[];
	columns: number;
	width: number;
	height: number;
	dark: boolean;
}

export function StripCanvas({ rows, columns, width, height, dark }: Props): JSX.Element {
	const canvas = useRef<HTMLCanvasElement>(null);
	useLayoutEffect(() => {
		if (!canvas.current || width === 0) return;
		const surface = fitCanvas(canvas.current, width, height, true);
		if (surface) drawHeat(surface.context, rows, columns, dark, surface.scale);
	}, [rows, columns, width, height, dark]);
	return <canvas ref={canvas} class="strip-canvas" aria-hidden="true" />;
}
