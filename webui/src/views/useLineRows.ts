// SPDX-License-Identifier: Apache-2.0
/* What lines took, where it is told beside something else: it is dear to make of many stacks, so it follows the
 * picture. */

import { useMemo } from "preact/hooks";

import type { FunctionRows } from "../model/functions";
import type { Page } from "./page";
import { useSettled } from "./useSettled";

/** Null: not made yet. */
export function useLineRows(page: Page): FunctionRows | null {
	const { filter, transforms, unit } = page.state;
	const parts = [page.profile, filter, transforms, unit];
	const latest = useMemo(() => ({ shown: page.shown }), parts);
	const settled = useSettled(latest, parts, ({ shown }) => shown.aheadOfLines());
	return settled === latest ? page.shown.lineRows() : null;
}
