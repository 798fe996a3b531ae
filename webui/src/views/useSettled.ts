// SPDX-License-Identifier: Apache-2.0
/* What is dear to make follows the picture: a box that is clicked is drawn first, its figures come a frame later. */

import { useEffect, useMemo, useState } from "preact/hooks";

/** The value as it was when the page last came to rest; null before the first time. A new one is made when one of
 * `parts` changes, and is left out if they change again before it was painted. */
export function useSettled<T>(value: T, parts: readonly unknown[]): T | null {
	const latest = useMemo(() => ({ value }), parts);
	const [settled, settle] = useState<{ value: T } | null>(null);
	useEffect(() => {
		let timer = 0;
		const frame = requestAnimationFrame(() => {
			timer = window.setTimeout(() => settle(latest));
		});
		return () => {
			cancelAnimationFrame(frame);
			clearTimeout(timer);
		};
	}, [latest]);
	return settled ? settled.value : null;
}
