// SPDX-License-Identifier: Apache-2.0
/* A place of a file, to be opened in the reader's editor: which one is chosen once, and is in the link. */

import type { JSX } from "preact";

import { editorLink, editors, isPlace } from "./editors";
import type { Page } from "./page";

interface Props {
	page: Page;
	file: string;
	line: number;
}

export function EditorLink({ page, file, line }: Props): JSX.Element | null {
	if (!isPlace(file)) return null;
	const { editor } = page.state;
	const link = editorLink(editor, file, line);
	return (
		<span class="editor-link">
			{link === null ? null : (
				<a class="link" href={link}>
					Open in {editors[editor].name}
				</a>
			)}
			<select
				aria-label="Editor that opens files"
				value={editor}
				onChange={(event) => page.change({ editor: event.currentTarget.value })}
			>
				<option value="">{link === null ? "Open in …" : "no editor"}</option>
				{Object.entries(editors).map(([id, { name }]) => (
					<option key={id} value={id}>
						{name}
					</option>
				))}
			</select>
		</span>
	);
}
