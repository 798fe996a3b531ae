// SPDX-License-Identifier: Apache-2.0
// In what order processes are listed. Layer model; pure.
import type { Process } from "../data/profile";

function keyOf(host: string | undefined, pid: number): string {
	return `${host ?? ""} ${String(pid)}`;
}

/** Indices of processes, each behind the one that started it if that is among them; else in the order given. */
export function parentsFirst(processes: readonly Process[], given: readonly number[]): number[] {
	const byPid = new Map(given.map((i) => [keyOf(processes[i]!.host, processes[i]!.pid), i]));
	const parentOf = (i: number): number => byPid.get(keyOf(processes[i]!.host, processes[i]!.parent)) ?? i;
	const children = new Map<number, number[]>();
	for (const i of given) {
		const parent = parentOf(i);
		if (parent === i) continue;
		const siblings = children.get(parent);
		if (siblings) siblings.push(i);
		else children.set(parent, [i]);
	}
	const order = new Set<number>();
	const waiting = given.filter((i) => parentOf(i) === i).reverse();
	for (let i = waiting.pop(); i !== undefined; i = waiting.pop()) {
		if (order.has(i)) continue;
		order.add(i);
		for (const child of [...(children.get(i) ?? [])].reverse()) waiting.push(child);
	}
	/* What numbers make each other's parent, in a file that lies, comes last. */
	return [...order, ...given.filter((i) => !order.has(i))];
}
