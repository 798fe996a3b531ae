// SPDX-License-Identifier: Apache-2.0
/* The name of a function, which selects it. */

import type { JSX } from "preact";

import type { Page } from "./page";
import { brief } from "./text";

interface Props {
	page: Page;
	fn: number;
	/** Behind the name: "" for none. */
	place?: string;
}

export function FunctionLink({ page, fn, place }: Props): JSX.Element {
	return (
		<button
			type="button"
			class="link name"
			title={`${brief(page.names.full(fn), 300)}${place ? `  ${place}` : ""}`}
			onClick={() => page.change({ selected: fn, at: null })}
			onContextMenu={(event) => {
				event.preventDefault();
				page.openMenu(fn, event.clientX, event.clientY);
			}}
		>
			{brief(page.names.full(fn), 80)}
		</button>
	);
}
