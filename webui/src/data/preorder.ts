// SPDX-License-Identifier: Apache-2.0
// Trees as columns, in preorder. Layer data; pure.

/** Behind the last node of each subtree. */
export function endsOf(parent: Int32Array): Int32Array {
	const end = new Int32Array(parent.length);
	for (let i = parent.length - 1; i >= 0; i--) {
		if (end[i] === 0) end[i] = i + 1;
		const up = parent[i]!;
		if (up >= 0 && end[up]! < end[i]!) end[up] = end[i]!;
	}
	return end;
}
