// SPDX-License-Identifier: Apache-2.0
/* A window over the page. The browser's own element keeps the keyboard inside it and gives it back afterwards. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
	title: string;
	children: ComponentChildren;
	onClose: () => void;
}

export function Dialog({ title, children, onClose }: Props): JSX.Element {
	const box = useRef<HTMLDialogElement>(null);
	useEffect(() => {
		const dialog = box.current;
		if (dialog && !dialog.open) dialog.showModal();
		return () => dialog?.close();
	}, []);
	const closeOutside = (event: MouseEvent): void => {
		if (event.target === box.current) onClose();
	};
	return (
		<dialog ref={box} class="dialog" aria-label={title} onClose={onClose} onClick={closeOutside}>
			<div class="dialog-in">
				<header class="dialog-head">
					<h2>{title}</h2>
					<button type="button" class="quiet" onClick={onClose} aria-label="Close">
						✕
					</button>
				</header>
				<div class="dialog-text" tabIndex={0} role="region" aria-label={title}>
					{children}
				</div>
			</div>
		</dialog>
	);
}
