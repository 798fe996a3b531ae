// SPDX-License-Identifier: Apache-2.0
// Who holds the state, and tells everybody that it changed. Layer state; no DOM.
import { groundedIn, type State } from "./state";
import { type History, redo, remember, startOf, undo } from "./undo";

export type Change = (change: Partial<State> | ((state: State) => State)) => void;

export interface Store {
	state(): State;
	readonly change: Change;
	/** Set all of it; nothing to undo. */
	replace(state: State): void;
	undo(): void;
	redo(): void;
	canUndo(): boolean;
	canRedo(): boolean;
	/** Returns what ends it. */
	subscribe(listener: () => void): () => void;
}

export function createStore(initial: State): Store {
	let history: History = startOf(initial);
	const listeners = new Set<() => void>();
	const become = (next: History) => {
		if (next === history) return;
		history = next;
		for (const listener of listeners) listener();
	};
	return {
		state: () => history.now,
		change(change) {
			const { now } = history;
			const next = typeof change === "function" ? change(now) : { ...now, ...change };
			become(remember(history, groundedIn(now, next)));
		},
		replace: (state) => become({ ...history, now: state }),
		undo: () => become(undo(history)),
		redo: () => become(redo(history)),
		canUndo: () => history.past.length > 0,
		canRedo: () => history.future.length > 0,
		subscribe(listener) {
			listeners.add(listener);
			return () => listeners.delete(listener);
		},
	};
}
