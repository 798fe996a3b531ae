// SPDX-License-Identifier: Apache-2.0
/* How far the figures can be trusted, in the words of the text report. */

import type { Meta } from "../data/profile";

/** Of the whole recording; nothing if it is good. */
export function trustWords({ quality, warnings }: Pick<Meta, "quality" | "warnings">): string[] {
	const said = !quality || quality.startsWith("good") ? [] : [`quality: ${quality}`];
	return [...said, ...(warnings ?? [])].map((text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
}
