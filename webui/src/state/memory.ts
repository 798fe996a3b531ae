// SPDX-License-Identifier: Apache-2.0
// What was made last under a name, as long as it was made from the same. Layer state; no DOM.

/** The last result under `name` if `from` is the same as then, else what `make` gives. One is kept a name: trees are
 * large. */
export type Memory = <T>(name: string, from: readonly unknown[], make: () => T) => T;

/** The same for one state: what was given for it stays while what another needs is made and takes its place. */
export function memoryOfState(shared: Memory): Memory {
	const own = memory();
	return (name, from, make) => own(name, from, () => shared(name, from, make));
}

export function memory(): Memory {
	const kept = new Map<string, { readonly from: readonly unknown[]; readonly made: unknown }>();
	return <T>(name: string, from: readonly unknown[], make: () => T): T => {
		const last = kept.get(name);
		if (last?.from.length === from.length && last.from.every((part, i) => Object.is(part, from[i]))) {
			return last.made as T;
		}
		const made = make();
		kept.set(name, { from, made });
		return made;
	};
}
