// SPDX-License-Identifier: Apache-2.0
/* How wide an element is, in CSS pixels, now and when that changes. */

import { useLayoutEffect, useState } from "preact/hooks";

export function useWidth(box: { current: HTMLElement | null }): number {
	const [width, setWidth] = useState(0);
	useLayoutEffect(() => {
		const element = box.current;
		if (!element) return undefined;
		const measure = (): void => setWidth(element.clientWidth);
		const watch = new ResizeObserver(measure);
		watch.observe(element);
		measure();
		return () => watch.disconnect();
	}, []);
	return width;
}
