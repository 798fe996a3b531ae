// SPDX-License-Identifier: Apache-2.0
/* Samples with which labels count: where the program set some (`plumb.tag`). */

import type { JSX } from "preact";

import { labelsOf, labelText, type Labelled } from "../model/labels";
import type { Page } from "./page";
import { PickList } from "./PickList";
import { Popover } from "./Popover";
import { brief } from "./text";

function textOf(all: readonly Labelled[], chosen: readonly number[]): string {
	if (chosen.length === 0) return "All labels";
	return chosen.length === 1 ? brief(labelText(all[chosen[0]].label), 30) : `${chosen.length} labels`;
}

export function LabelFilter({ page }: { page: Page }): JSX.Element | null {
	const { filter } = page.state;
	const all = labelsOf(page.profile.meta);
	if (all.length === 0) return null;
	return (
		<Popover
			label={textOf(all, filter.labels)}
			title="Labels that the program set: of two values of one name one counts, two names must both be there"
			chosen={filter.labels.length > 0}
		>
			{() => (
				<PickList
					title="Only samples with the label"
					all="Any label, or none"
					picks={all.map(({ label, tags }, id) => ({
						id,
						text: labelText(label),
						detail: tags === 1 ? "" : `${tags} combinations`,
					}))}
					chosen={filter.labels}
					onChoose={(labels) => page.change({ filter: { ...filter, labels } })}
				/>
			)}
		</Popover>
	);
}
