// SPDX-License-Identifier: Apache-2.0
/* A note that is kept in the link to a view: where it is written, and where it is read. */

import type { JSX } from "preact";

import { LONGEST_NOTE } from "../state/state";
import type { Page } from "./page";
import { brief } from "./text";

export function NoteBox({ page }: { page: Page }): JSX.Element {
	return (
		<label class="note-box">
			Note in the link
			<textarea
				rows={3}
				maxLength={LONGEST_NOTE}
				value={page.state.note}
				placeholder="What to look at"
				onInput={(event) => page.change({ note: event.currentTarget.value })}
			/>
		</label>
	);
}

export function LinkNote({ note }: { note: string }): JSX.Element | null {
	if (note === "") return null;
	const lines = note.split("\n").map((line) => brief(line, LONGEST_NOTE));
	return (
		<p class="note" role="note">
			{lines.join("\n")}
		</p>
	);
}
