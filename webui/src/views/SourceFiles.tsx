// SPDX-License-Identifier: Apache-2.0
/* The files that were sampled, most self time first. */

import type { JSX } from "preact";

import { ShareCell } from "./Figure";
import type { Page } from "./page";
import { stepOfKey } from "./rowKeys";
import { brief } from "./text";
import { VirtualRows } from "./VirtualRows";

const ROW = 26;
const PAGE = 10;

/** The end of a path says most: "folder/name.py". */
function shortPath(path: string): string {
	return path.split("/").slice(-2).join("/");
}

export function SourceFiles({ page, file }: { page: Page; file: number | null }): JSX.Element {
	const files = page.shown.sourceFiles();
	const { whole } = page.shown;
	const active = files.findIndex((one) => one.file === file);
	const choose = (index: number): void => page.change({ file: files[index].file, line: null });
	const onKeyDown = (event: KeyboardEvent): void => {
		const step = stepOfKey(event, active, files.length, PAGE);
		if (step === null) return;
		event.preventDefault();
		choose(step);
	};
	return (
		<VirtualRows
			class="source-files"
			role="listbox"
			label="Files, most self time first"
			count={files.length}
			rowHeight={ROW}
			active={active}
			activeId={active < 0 ? undefined : `file-${files[active].file}`}
			onKeyDown={onKeyDown}
			rows={(first, last) =>
				files.slice(first, last).map((one, i) => (
					<div
						key={one.file}
						id={`file-${one.file}`}
						role="option"
						aria-selected={first + i === active}
						class={first + i === active ? "row selected" : "row"}
						title={brief(page.profile.strings[one.file], 1000)}
						onClick={() => choose(first + i)}
					>
						<div class="share">
							<ShareCell share={one.self / whole} halfWidth={null} />
						</div>
						<div class="cut name">{brief(shortPath(page.profile.strings[one.file]), 200)}</div>
					</div>
				))
			}
		/>
	);
}
