// SPDX-License-Identifier: Apache-2.0
/* What is near and selected in a flame graph that keeps this to itself. Numbers of nodes mean nothing in another
 * tree, so with another tree nothing is. */

import { useState } from "preact/hooks";

interface Nodes {
	zoom: number;
	selected: number;
}

interface Chosen extends Nodes {
	choose(nodes: Partial<Nodes>): void;
}

const NONE: Nodes = { zoom: -1, selected: -1 };

export function useChosen(tree: object): Chosen {
	const [kept, keep] = useState({ tree, ...NONE });
	const { zoom, selected } = kept.tree === tree ? kept : NONE;
	return {
		zoom,
		selected,
		choose: (nodes) => keep((now) => ({ ...(now.tree === tree ? now : NONE), ...nodes, tree })),
	};
}
