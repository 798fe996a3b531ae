// SPDX-License-Identifier: Apache-2.0
/* What keys mean in a flame graph. */

export type Action =
	| "callee" | "caller" | "before" | "after" | "root"
	| "panLeft" | "panRight" | "closer" | "further"
	| "open" | "out" | "escape" | "all" | "menu";

interface Key {
	key: string;
	altKey: boolean;
	ctrlKey: boolean;
	metaKey: boolean;
	shiftKey: boolean;
}

const KEYS: Readonly<Record<string, Action>> = {
	ArrowDown: "callee",
	ArrowUp: "caller",
	ArrowLeft: "before",
	ArrowRight: "after",
	Home: "root",
	Enter: "open",
	Backspace: "out",
	Escape: "escape",
	"+": "closer",
	"=": "closer",
	"-": "further",
	"0": "all",
	ContextMenu: "menu",
};

const WITH_SHIFT: Readonly<Record<string, Action>> = { ArrowLeft: "panLeft", ArrowRight: "panRight", F10: "menu" };

const TURNED: Partial<Record<Action, Action>> = { callee: "caller", caller: "callee" };

/** Null: the key is somebody else's. Up is towards callees where they stand above. */
export function actionOf(event: Key, flipped: boolean): Action | null {
	if (event.altKey || event.ctrlKey || event.metaKey) return null;
	const action = (event.shiftKey ? WITH_SHIFT[event.key] : undefined) ?? KEYS[event.key] ?? null;
	return action && flipped ? (TURNED[action] ?? action) : action;
}
