// SPDX-License-Identifier: Apache-2.0
/* Keys that all tables share. */

import type { Page } from "./page";

/** The row that a key goes to, or null if it is no key for moving. */
export function stepOfKey(event: KeyboardEvent, now: number, count: number, page: number): number | null {
	if (count === 0) return null;
	const steps: Readonly<Record<string, number>> = {
		ArrowDown: now + 1,
		ArrowUp: now < 0 ? 0 : now - 1,
		PageDown: now + page,
		PageUp: now - page,
		Home: 0,
		End: count - 1,
	};
	const to = steps[event.key];
	return to === undefined ? null : Math.max(0, Math.min(count - 1, to));
}

/** Open the menu of the function at its row, if that is what the key asks for. */
export function openMenuAt(event: KeyboardEvent, page: Page, fn: number, id: string): boolean {
	const asked = event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey);
	if (!asked || fn < 0) return false;
	const box = document.getElementById(id)?.getBoundingClientRect();
	page.openMenu(fn, (box?.left ?? 0) + 120, box?.bottom ?? 0);
	return true;
}
