// SPDX-License-Identifier: Apache-2.0
/* A button that opens a small panel below it. Escape and a click elsewhere close it. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface Props {
	/** What the button says. */
	label: ComponentChildren;
	title: string;
	/** The panel says something other than the default. */
	chosen?: boolean;
	align?: "left" | "right";
	children: (close: () => void) => ComponentChildren;
}

function useClosing(open: boolean, box: { current: HTMLElement | null }, close: () => void): void {
	useEffect(() => {
		if (!open) return undefined;
		const outside = (event: Event): void => {
			if (!box.current?.contains(event.target as Node)) close();
		};
		document.addEventListener("pointerdown", outside);
		document.addEventListener("focusin", outside);
		return () => {
			document.removeEventListener("pointerdown", outside);
			document.removeEventListener("focusin", outside);
		};
	}, [open]);
}

const MARGIN = 8;

/** A panel that would go beyond the right edge of the window is moved into it. */
function useInside(): { current: HTMLDivElement | null } {
	const panel = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		if (!panel.current) return;
		panel.current.style.translate = "";
		const beyond = panel.current.getBoundingClientRect().right + MARGIN - document.documentElement.clientWidth;
		if (beyond > 0) panel.current.style.translate = `${-beyond}px 0`;
	});
	return panel;
}

export function Popover({ label, title, chosen, align, children }: Props): JSX.Element {
	const [open, setOpen] = useState(false);
	const box = useRef<HTMLDivElement>(null);
	const button = useRef<HTMLButtonElement>(null);
	const panel = useInside();
	const close = (): void => {
		setOpen(false);
		button.current?.focus();
	};
	useClosing(open, box, () => setOpen(false));
	const onKeyDown = (event: KeyboardEvent): void => {
		if (event.key !== "Escape" || !open) return;
		event.stopPropagation();
		close();
	};
	return (
		<div class="popover" ref={box} onKeyDown={onKeyDown}>
			<button
				type="button"
				ref={button}
				class={chosen ? "choice chosen" : "choice"}
				aria-expanded={open}
				aria-haspopup="dialog"
				title={title}
				onClick={() => setOpen(!open)}
			>
				{label}
				<span class="arrow" aria-hidden="true" />
			</button>
			{open ? (
				<div
					ref={panel}
					class={align === "right" ? "popover-panel right" : "popover-panel"}
					role="dialog"
					aria-label={title}
				>
					{children(close)}
				</div>
			) : null}
		</div>
	);
}
