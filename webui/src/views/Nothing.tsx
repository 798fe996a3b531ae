// SPDX-License-Identifier: Apache-2.0
/* Where nothing is left to show: why, and the way back. */

import type { JSX } from "preact";
import type { Page } from "./page";

export function Nothing({ page, text }: { page: Page; text: string }): JSX.Element {
	const { transforms } = page.state;
	return (
		<div class="empty">
			<p>{text}</p>
			{page.undo ? (
				<button type="button" onClick={page.undo}>
					Undo the last step
				</button>
			) : null}{" "}
			{transforms.length > 0 ? (
				<button type="button" onClick={() => page.change({ transforms: [], zoom: null })}>
					Show the whole tree
				</button>
			) : null}
		</div>
	);
}
