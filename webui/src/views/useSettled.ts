// SPDX-License-Identifier: Apache-2.0
/* What is dear to make follows the picture: a box that is clicked is drawn first, its figures come a frame later. */

import { useLayoutEffect, useMemo, useState } from "preact/hooks";

import type { Steps } from "../data/steps";
import { inSlices } from "./inSlices";

/** The value as it was when the page last came to rest; null before the first time. A new one is made when one of
 * `parts` changes, and is left out if they change again before it was painted, or before all was made that `ahead`
 * makes. */
export function useSettled<T>(value: T, parts: readonly unknown[], ahead?: (value: T) => Steps<void>): T | null {
	const latest = useMemo(() => ({ value }), parts);
	const [settled, settle] = useState<{ value: T } | null>(null);
	/* What is of a state that is no longer shown ends before anything else goes on. */
	useLayoutEffect(() => {
		let timer = 0;
		let end = (): void => undefined;
		const begin = (): void => {
			if (ahead) end = inSlices(ahead(latest.value), () => settle(latest));
			else settle(latest);
		};
		const frame = requestAnimationFrame(() => {
			timer = window.setTimeout(begin);
		});
		return () => {
			cancelAnimationFrame(frame);
			clearTimeout(timer);
			end();
		};
	}, [latest]);
	return settled ? settled.value : null;
}
