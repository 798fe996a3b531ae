// SPDX-License-Identifier: Apache-2.0
// Work that takes long as a generator: it yields where the browser may do something else. Layer data; pure.

export type Steps<T> = Generator<undefined, T>;

/** So many rows are gone over without a break: some milliseconds at most. */
export const stride = 2 ** 15;

/** All of it at once. */
export function finish<T>(steps: Steps<T>): T {
	for (;;) {
		const step = steps.next();
		if (step.done) return step.value;
	}
}

/** Not all of it, until it is asked to go on. */
export function* stepsOf(work: Work<unknown>): Steps<void> {
	while (work.step()) yield;
}

/** Work that is begun ahead, and finished at the latest when its result is asked for. */
export interface Work<T> {
	/** True: there is more to do. */
	step(): boolean;
	result(): T;
}

export function workOf<T>(steps: Steps<T>): Work<T> {
	let done: { readonly value: T } | null = null;
	return {
		step() {
			const step = done ? null : steps.next();
			if (step?.done) done = { value: step.value };
			return done === null;
		},
		result() {
			done ??= { value: finish(steps) };
			return done.value;
		},
	};
}
