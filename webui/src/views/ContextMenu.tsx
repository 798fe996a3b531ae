// SPDX-License-Identifier: Apache-2.0
/* The menu of a function, where the pointer or the selected row is. */

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import { actions, type Action } from "./actions";
import type { Page } from "./page";
import { brief } from "./text";

export interface MenuAt {
	readonly fn: number;
	readonly x: number;
	readonly y: number;
}

interface Props {
	page: Page;
	at: MenuAt;
	onClose: () => void;
}

function moveFocus(menu: HTMLElement, step: (now: number, count: number) => number): void {
	const items = [...menu.querySelectorAll<HTMLElement>('[role="menuitem"]')];
	const now = items.indexOf(document.activeElement as HTMLElement);
	items[(step(now, items.length) + items.length) % items.length]?.focus();
}

function onMenuKey(event: KeyboardEvent, menu: HTMLElement): void {
	if (event.key === "ArrowDown") moveFocus(menu, (now) => now + 1);
	else if (event.key === "ArrowUp") moveFocus(menu, (now) => now - 1);
	else if (event.key === "Home") moveFocus(menu, () => 0);
	else if (event.key === "End") moveFocus(menu, (_, count) => count - 1);
	else return;
	event.preventDefault();
}

/** Inside the window, whatever the point was. */
function usePlaced(at: MenuAt): { current: HTMLDivElement | null } {
	const box = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		const menu = box.current;
		if (!menu) return;
		menu.style.left = `${Math.max(4, Math.min(at.x, innerWidth - menu.offsetWidth - 4))}px`;
		menu.style.top = `${Math.max(4, Math.min(at.y, innerHeight - menu.offsetHeight - 4))}px`;
		menu.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
	}, [at]);
	return box;
}

/** The keyboard goes back to where it was: noted before the menu takes it. */
function useReturn(): void {
	useLayoutEffect(() => {
		const before = document.activeElement as HTMLElement | null;
		return () => before?.focus();
	}, []);
}

export function ContextMenu({ page, at, onClose }: Props): JSX.Element {
	useReturn();
	const box = usePlaced(at);
	useEffect(() => {
		const outside = (event: Event): void => {
			if (!box.current?.contains(event.target as Node)) onClose();
		};
		document.addEventListener("pointerdown", outside);
		return () => document.removeEventListener("pointerdown", outside);
	}, []);

	const act = (action: Action): void => {
		if (!action.possible(page, at.fn)) return;
		onClose();
		action.act(page, at.fn);
	};
	const onKeyDown = (event: KeyboardEvent): void => {
		event.stopPropagation();
		const action = actions.find((one) => one.key === event.key);
		if (event.key === "Escape" || event.key === "Tab") onClose();
		else if (action && !event.ctrlKey && !event.metaKey) act(action);
		else if (box.current) onMenuKey(event, box.current);
	};
	const title = brief(page.names.full(at.fn), 80);
	return (
		<div class="menu" role="menu" aria-label={title} ref={box} onKeyDown={onKeyDown}>
			<div class="menu-title cut" role="presentation">
				{title}
			</div>
			{actions.map((action) => (
				<>
					{action.apart ? <div role="separator" /> : null}
					<Item
						key={action.key}
						action={action}
						possible={action.possible(page, at.fn)}
						onAct={() => act(action)}
					/>
				</>
			))}
		</div>
	);
}

function Item({ action, possible, onAct }: { action: Action; possible: boolean; onAct: () => void }): JSX.Element {
	const onKeyDown = (event: KeyboardEvent): void => {
		if (event.key !== "Enter" && event.key !== " ") return;
		event.preventDefault();
		onAct();
	};
	return (
		<div role="menuitem" tabIndex={-1} aria-disabled={!possible} onClick={onAct} onKeyDown={onKeyDown}>
			<span>{action.name}</span>
			<kbd>{action.key}</kbd>
		</div>
	);
}
