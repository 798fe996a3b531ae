// SPDX-License-Identifier: Apache-2.0
/* How wide an element is, in CSS pixels, now and when that changes. The browser tells it before it paints; to ask would
 * have it lay out all of the page at once, for each that asks. */

import { useLayoutEffect, useState } from "preact/hooks";

export function useWidth(box: { current: HTMLElement | null }): number {
	const [width, setWidth] = useState(0);
	useLayoutEffect(() => {
		const element = box.current;
		if (!element) return undefined;
		const watch = new ResizeObserver(() => setWidth(element.clientWidth));
		watch.observe(element);
		return () => watch.disconnect();
	}, []);
	return width;
}
