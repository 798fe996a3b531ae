// SPDX-License-Identifier: Apache-2.0
/* How large an element is, in CSS pixels, now and when that changes. The browser tells it before it paints; to ask
 * would have it lay out all of the page at once, for each that asks. */

import { useLayoutEffect, useState } from "preact/hooks";

interface Box {
	current: HTMLElement | null;
}

function useSize(box: Box, of: (element: HTMLElement) => number): number {
	const [size, setSize] = useState(0);
	useLayoutEffect(() => {
		const element = box.current;
		if (!element) return undefined;
		const watch = new ResizeObserver(() => setSize(of(element)));
		watch.observe(element);
		return () => watch.disconnect();
	}, []);
	return size;
}

export function useWidth(box: Box): number {
	return useSize(box, (element) => element.clientWidth);
}

export function useHeight(box: Box): number {
	return useSize(box, (element) => element.clientHeight);
}
