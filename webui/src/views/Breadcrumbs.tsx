// SPDX-License-Identifier: Apache-2.0
/* What was done to the call tree, in order; each step can be gone back to or taken out. */

import type { JSX } from "preact";

import { wordsOf } from "./crumbs";
import type { Page } from "./page";
import { brief } from "./text";

export function Breadcrumbs({ page }: { page: Page }): JSX.Element | null {
	const { transforms } = page.state;
	if (transforms.length === 0) return null;
	const keep = (kept: typeof transforms): void => page.change({ transforms: kept, zoom: null });
	return (
		<nav class="crumbs" aria-label="What was done to the call tree">
			<button type="button" class="link" onClick={() => keep([])}>
				Whole tree
			</button>
			<ol>
				{transforms.map((transform, i) => {
					const [verb, name] = wordsOf(page, transform);
					const text = `${verb} ${brief(name, 60)}`;
					return (
						<li key={i}>
							<span class="cut">{text}</span>
							<button
								type="button"
								class="quiet"
								aria-label={`Take back: ${text}`}
								title="Take back this step"
								onClick={() => keep(transforms.filter((_, other) => other !== i))}
							>
								✕
							</button>
						</li>
					);
				})}
			</ol>
		</nav>
	);
}
