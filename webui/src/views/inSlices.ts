// SPDX-License-Identifier: Apache-2.0
/* Work that would hold up the page is done in slices, between which the browser does what waits. */

import type { Steps } from "../data/steps";

const SLICE_MS = 50;

/** At once, if a slice is enough. Returns what ends it; then `done` is not called. */
export function inSlices(steps: Steps<void>, done: () => void): () => void {
	let timer = 0;
	const slice = (): void => {
		const until = performance.now() + SLICE_MS;
		while (!steps.next().done) {
			if (performance.now() < until) continue;
			timer = window.setTimeout(slice);
			return;
		}
		done();
	};
	slice();
	return () => clearTimeout(timer);
}
