// SPDX-License-Identifier: Apache-2.0
/* A share with its 95 % interval, and a bar of its length behind it. */

import type { JSX } from "preact";

import { percent, sharePm } from "../model/numbers";

interface Props {
	share: number;
	/** Half of the interval; null: not to be said, undefined: not known yet. */
	halfWidth: number | null | undefined;
}

function shareText(share: number, halfWidth: Props["halfWidth"]): string {
	if (halfWidth === null) return percent(share);
	return halfWidth === undefined ? `${percent(share)} ±…` : sharePm(share, halfWidth);
}

export function ShareCell({ share, halfWidth }: Props): JSX.Element {
	return (
		<>
			<div class="share-bar" style={{ width: `${Math.min(100, share * 100).toFixed(2)}%` }} />
			<span>{shareText(share, halfWidth)}</span>
		</>
	);
}
