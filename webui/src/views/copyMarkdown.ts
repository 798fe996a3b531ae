// SPDX-License-Identifier: Apache-2.0
/* Figures of a million stacks are made step by step before they are copied. */

import { copy } from "./actions";
import { inSlices } from "./inSlices";
import { aheadOfMarkdown, markdownOf } from "./markdownText";
import type { Page } from "./page";

export function copyMarkdown(page: Page): void {
	inSlices(aheadOfMarkdown(page), () => void copy(page, markdownOf(page), "what is shown, as Markdown"));
}
