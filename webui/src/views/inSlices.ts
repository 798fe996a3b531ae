// SPDX-License-Identifier: Apache-2.0
/* Work that would hold up the page is done in slices, between which the browser does what waits. */

import type { Steps } from "../data/steps";

const SLICE_MS = 25;

/** After so long what was made is shown in a slice of its own: drawing it may take as long as a slice. */
const SHOWN_MS = 8;

/** What waits while something urgent is done: how each goes on. */
const waiting = new Set<() => void>();
let urgent = 0;

function leave(): void {
	urgent--;
	if (urgent > 0) return;
	for (const goOn of waiting) window.setTimeout(goOn);
}

/** Returns what ends it; then `done` is not called. What is urgent goes before all else, which is of the state before:
 * taking turns they would take from each other what is kept of trees (state/memory.ts), and make it again and again. */
export function inSlices(steps: Steps<void>, done: () => void, isUrgent = false): () => void {
	let timer = 0;
	let [open, isMade] = [true, false];
	const end = (): void => {
		clearTimeout(timer);
		waiting.delete(slice);
		if (open && isUrgent) leave();
		open = false;
	};
	const slice = (): void => {
		waiting.delete(slice);
		if (!open) return;
		if (urgent > 0 && !isUrgent) {
			waiting.add(slice);
			return;
		}
		const from = performance.now();
		while (!isMade) {
			isMade = steps.next().done === true;
			if (performance.now() - from < (isMade ? SHOWN_MS : SLICE_MS)) continue;
			timer = window.setTimeout(slice);
			return;
		}
		done();
		end();
	};
	if (isUrgent) urgent++;
	slice();
	return end;
}
