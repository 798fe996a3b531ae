// SPDX-License-Identifier: Apache-2.0
// Trees as columns, in preorder. Layer data; pure.
import { finish, type Steps, stride } from "./steps";

/** Behind the last node of each subtree. */
export function* findingEnds(parent: Int32Array): Steps<Int32Array> {
	const end = new Int32Array(parent.length);
	for (let i = parent.length - 1; i >= 0; i--) {
		if (i % stride === 0) yield;
		if (end[i] === 0) end[i] = i + 1;
		const up = parent[i]!;
		if (up >= 0 && end[up]! < end[i]!) end[up] = end[i]!;
	}
	return end;
}

export function endsOf(parent: Int32Array): Int32Array {
	return finish(findingEnds(parent));
}
