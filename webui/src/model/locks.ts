// SPDX-License-Identifier: Apache-2.0
// For which locks threads waited, where, and who held them: of the samples that pass and waited, whoever held the lock.
// Layer model; pure.
import type { Lock, LockState, Profile } from "../data/profile";
import type { Steps } from "../data/steps";
import { counts, passing, type Selected } from "./batches";
import { addingShares, weightOf } from "./blame";
import type { Figure } from "./figures";

/** Where threads waited for a lock, or a function that stood inside `with` of it. */
export interface LockPlace {
	/** A row of the function table; null: it has none. */
	readonly fn: number | null;
	readonly name: string;
	readonly file: string;
	readonly line: number;
	/** Of the time that was waited for this lock. */
	readonly share: Figure;
}

/** A function that held it; without a name it is known only which threads did. */
export interface LockHolder extends LockPlace {
	/** Names of the threads in which it did. */
	readonly threads: readonly string[];
}

export interface LockRow {
	readonly lock: Lock;
	/** Of the time that was waited for locks. */
	readonly waited: Figure;
	/** The most first. */
	readonly places: readonly LockPlace[];
	readonly holders: readonly LockHolder[];
	/** Nobody held it; who did is not known. */
	readonly passedOn: Figure;
	readonly unknown: Figure;
}

export interface LockBlame {
	readonly samples: number;
	readonly waitedNs: number;
	/** The most waited for first. */
	readonly rows: readonly LockRow[];
	/** So many locks are no rows; some samples are of locks that are not known. */
	readonly more: number;
	readonly unknown: boolean;
}

const firstKey = 2;
/** More locks than these nobody reads. */
const mostLocks = 12;
/** Of one lock: what holds it, where it is waited for. With `passedOn` and `unknown` they are one pass. */
const mostHolders = 16;
const mostPlaces = 12;

/** Things that were seen, by name, with the time that each got. */
class Sums<T> {
	readonly items: T[] = [];
	private readonly weights: number[] = [];
	private readonly byName = new Map<string, number>();

	/** The number of the one of that name. */
	add(name: string, weight: number, make: () => T): number {
		let number = this.byName.get(name);
		if (number === undefined) {
			number = this.items.push(make()) - 1;
			this.weights.push(0);
			this.byName.set(name, number);
		}
		this.weights[number]! += weight;
		return number;
	}

	more(number: number, weight: number): void {
		this.weights[number]! += weight;
	}

	/** Numbers, the heaviest first. */
	heaviest(most: number): number[] {
		const all = [...this.items.keys()].sort((a, b) => this.weights[b]! - this.weights[a]! || a - b);
		return all.slice(0, most);
	}
}

type Place = Omit<LockPlace, "share">;
type Holder = Place & { readonly threads: Set<string> };

function placeOf({ functions, locations, strings, tree }: Profile, l: number): Place {
	if (l < 0) return { fn: null, name: "", file: "", line: 0 };
	const at = tree.location[l]!;
	const fn = locations.fn[at]!;
	const name = strings[functions.qualname[fn]!] || strings[functions.name[fn]!]!;
	return { fn, name, file: strings[functions.file[fn]!]!, line: locations.line[at]! };
}

function holderOf({ function: fn = null, name = "", file = "", line = 0 }: LockState): Holder {
	return { fn, name, file, line, threads: new Set() };
}

/** The number of what holds it in that state; -1: nobody does, or it is not known. */
function addHolder(holders: Sums<Holder>, state: LockState): number {
	if (state.holder !== "held") return -1;
	const { name, file, line, thread } = state;
	const number = holders.add(JSON.stringify([name, file, line]), 0, () => holderOf(state));
	if (thread) holders.items[number]!.threads.add(thread);
	return number;
}

function stateRow({ cells }: Profile, cell: number): number {
	return cells.lock![cell]! - firstKey;
}

function stateOf(profile: Profile, cell: number): LockState {
	return profile.meta.lock_states![stateRow(profile, cell)]!;
}

/** What the cells of one lock tell; by the index of the cell its place, and who held it: -1 nobody, or it is not
 * known. */
interface Told {
	readonly places: Sums<Place>;
	readonly holders: Sums<Holder>;
	readonly placeOf: Int32Array;
	readonly holderOf: Int32Array;
}

function read(profile: Profile, cells: readonly number[]): Told {
	const told: Told = {
		places: new Sums(), holders: new Sums(),
		placeOf: new Int32Array(cells.length), holderOf: new Int32Array(cells.length).fill(-1),
	};
	/* Many cells can have one state, and what that says may be long: it is looked at once. */
	const byState = new Map<number, number>();
	cells.forEach((cell, i) => {
		const weight = weightOf(profile, cell);
		const place = placeOf(profile, profile.cells.place[cell]!);
		told.placeOf[i] = told.places.add(`${place.fn} ${place.line}`, weight, () => place);
		const row = stateRow(profile, cell);
		if (!byState.has(row)) byState.set(row, addHolder(told.holders, profile.meta.lock_states![row]!));
		const number = byState.get(row)!;
		told.holderOf[i] = number;
		if (number >= 0) told.holders.more(number, weight);
	});
	return told;
}

const passedOnRow = 0;
const unknownRow = 1;
const firstHolder = 2;
const firstPlace = firstHolder + mostHolders;
const rowsOfLock = firstPlace + mostPlaces;

function* rowOf(selected: Selected, lock: number, cells: readonly number[], waited: Figure): Steps<LockRow> {
	const { profile } = selected;
	const told = read(profile, cells);
	const holders = told.holders.heaviest(mostHolders);
	const places = told.places.heaviest(mostPlaces);
	const bit = (row: number, first: number) => (row < 0 ? 0 : 1 << (first + row));
	const byCell = new Int32Array(profile.cells.count);
	cells.forEach((cell, i) => {
		const { holder } = stateOf(profile, cell);
		byCell[cell] = counts | bit(places.indexOf(told.placeOf[i]!), firstPlace);
		if (holder === "held") byCell[cell]! |= bit(holders.indexOf(told.holderOf[i]!), firstHolder);
		else byCell[cell]! |= 1 << (holder === "passed_on" ? passedOnRow : unknownRow);
	});
	const { figures } = yield* addingShares(selected, byCell, rowsOfLock);
	return {
		lock: profile.meta.locks![lock]!,
		waited,
		places: places.map((n, row) => ({ ...told.places.items[n]!, share: figures[firstPlace + row]! })),
		holders: holders.map((n, row) => {
			const { threads, ...place } = told.holders.items[n]!;
			return { ...place, threads: [...threads], share: figures[firstHolder + row]! };
		}),
		passedOn: figures[passedOnRow]!,
		unknown: figures[unknownRow]!,
	};
}

/** The cells that pass and waited for a lock: by lock, and of those that are not known. */
function cellsOf(selected: Selected): { byLock: Sums<number[]>; locks: number[]; unknown: number[] } {
	const { profile } = selected;
	const numbers = profile.cells.lock!;
	const passes = passing(selected);
	const byLock = new Sums<number[]>();
	const locks: number[] = [];
	const unknown: number[] = [];
	for (let cell = 0; cell < numbers.length; cell++) {
		if (!numbers[cell] || !passes(cell)) continue;
		if (numbers[cell]! < firstKey) {
			unknown.push(cell);
			continue;
		}
		const { lock } = stateOf(profile, cell);
		const number = byLock.add(String(lock), weightOf(profile, cell), () => []);
		locks[number] = lock;
		byLock.items[number]!.push(cell);
	}
	return { byLock, locks, unknown };
}

/** Null: nothing that passes waited for a lock, or it is not known. */
export function* findingLockBlame(selected: Selected): Steps<LockBlame | null> {
	if (!selected.profile.cells.lock) return null;
	const { byLock, locks, unknown } = cellsOf(selected);
	yield;
	const shown = byLock.heaviest(mostLocks);
	const byCell = new Int32Array(selected.profile.cells.count);
	for (const cells of [...byLock.items, unknown]) for (const cell of cells) byCell[cell] = counts;
	shown.forEach((n, row) => {
		for (const cell of byLock.items[n]!) byCell[cell]! |= 1 << row;
	});
	const { samples, waitedNs, figures } = yield* addingShares(selected, byCell, shown.length);
	if (samples === 0) return null;
	const rows: LockRow[] = [];
	for (const [row, n] of shown.entries()) {
		rows.push(yield* rowOf(selected, locks[n]!, byLock.items[n]!, figures[row]!));
	}
	return { samples, waitedNs, rows, more: byLock.items.length - rows.length, unknown: unknown.length > 0 };
}
