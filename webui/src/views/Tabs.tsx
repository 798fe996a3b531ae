// SPDX-License-Identifier: Apache-2.0
/* Which view is seen. */

import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import type { View } from "../state/state";
import type { Page } from "./page";

interface Tab {
	readonly view: View;
	readonly text: string;
}

const all: readonly Tab[] = [
	{ view: "flame", text: "Flame graph" },
	{ view: "chart", text: "Stack chart" },
	{ view: "sandwich", text: "Callers and callees" },
	{ view: "functions", text: "Functions" },
	{ view: "tree", text: "Call tree" },
	{ view: "source", text: "Source" },
	{ view: "statistics", text: "Statistics" },
	{ view: "here", text: "What differs" },
];

export function tabsOf(page: Page): readonly Tab[] {
	return page.report.diff ? [{ view: "diff", text: "Comparison" }, ...all] : all;
}

/** Where not all tabs have room, the chosen one is seen. The page itself stays where it is. */
function showTab(list: HTMLElement, tab: HTMLElement): void {
	const left = tab.offsetLeft - list.offsetLeft;
	if (left < list.scrollLeft) list.scrollLeft = left;
	else if (left + tab.offsetWidth > list.scrollLeft + list.clientWidth) {
		list.scrollLeft = left + tab.offsetWidth - list.clientWidth;
	}
}

export function Tabs({ page }: { page: Page }): JSX.Element {
	const tabs = tabsOf(page);
	const now = tabs.findIndex((tab) => tab.view === page.state.view);
	const list = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		const tab = list.current?.children[now];
		if (list.current && tab instanceof HTMLElement) showTab(list.current, tab);
	}, [now]);
	const onKeyDown = (event: KeyboardEvent): void => {
		const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
		if (step === 0) return;
		event.preventDefault();
		const next = (now + step + tabs.length) % tabs.length;
		page.change({ view: tabs[next].view });
		document.getElementById(`tab-${tabs[next].view}`)?.focus();
	};
	return (
		<div ref={list} class="tabs" role="tablist" aria-label="Views" onKeyDown={onKeyDown}>
			{tabs.map((tab, i) => (
				<button
					key={tab.view}
					type="button"
					role="tab"
					id={`tab-${tab.view}`}
					aria-selected={i === now}
					aria-controls="view"
					tabIndex={i === now ? 0 : -1}
					data-text={tab.text}
					title={`${tab.text} (${i + 1})`}
					onClick={() => page.change({ view: tab.view })}
				>
					{tab.text}
				</button>
			))}
		</div>
	);
}
