// SPDX-License-Identifier: Apache-2.0
/* The frame of the page: what stands where, and which view is seen. */

import type { JSX } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { SceneSource } from "../canvas/picture";
import type { Report } from "../data/profile";
import { names } from "../model/names";
import type { Shown } from "../state/derived";
import type { State } from "../state/state";
import type { Store } from "../state/store";
import { Breadcrumbs } from "./Breadcrumbs";
import { ContextMenu, type MenuAt } from "./ContextMenu";
import { Details } from "./Details";
import { FilterBar } from "./FilterBar";
import { Header } from "./Header";
import { Help } from "./Help";
import { inSlices } from "./inSlices";
import { onPageKey } from "./keys";
import { Legend } from "./Legend";
import { LinkNote } from "./LinkNote";
import { Notes } from "./Notes";
import type { Page } from "./page";
import { Tabs } from "./Tabs";
import { TimelineView } from "./TimelineView";
import { useTheme } from "./useTheme";
import { ViewOf } from "./ViewOf";
import { ViewOptions } from "./ViewOptions";

interface Props {
	report: Report;
	store: Store;
	shownOf: (state: State) => Shown;
}

const SAID_MS = 2500;

interface Seen {
	readonly state: State;
	readonly shown: Shown;
}

/** The state of the store when all has been made that it shows; until then the one before. Only the last one of several
 * that come meanwhile is gone on with. */
function useStore(store: Store, shownOf: Props["shownOf"]): Seen {
	const [seen, see] = useState<Seen>(() => ({ state: store.state(), shown: shownOf(store.state()) }));
	useEffect(() => {
		let busy = false;
		let end = (): void => undefined;
		const follow = (): void => {
			if (busy) return;
			busy = true;
			const state = store.state();
			const shown = shownOf(state);
			end = inSlices(shown.ahead(), () => {
				busy = false;
				see((before) => (before.state === state ? before : { state, shown }));
				if (store.state() !== state) follow();
			}, true);
		};
		follow();
		const leave = store.subscribe(follow);
		return () => {
			leave();
			end();
		};
	}, [store]);
	return seen;
}

/** Something said goes away after a while; said again, it is said again. */
function useSaid(): [string, (text: string) => void] {
	const [said, setSaid] = useState("");
	const timer = useRef<number>(0);
	const say = useCallback((text: string) => {
		clearTimeout(timer.current);
		setSaid(text);
		timer.current = window.setTimeout(() => setSaid(""), SAID_MS);
	}, []);
	return [said, say];
}

function useKeys(page: Page, store: Store, help: () => void): void {
	useLayoutEffect(() => {
		const onKey = (event: KeyboardEvent): void =>
			onPageKey(event, page, { undo: store.undo, redo: store.redo, help });
		document.addEventListener("keydown", onKey);
		return () => document.removeEventListener("keydown", onKey);
	}, [page]);
}

export function App({ report, store, shownOf }: Props): JSX.Element {
	const { state, shown } = useStore(store, shownOf);
	const dark = useTheme(state.theme);
	const [menu, setMenu] = useState<MenuAt | null>(null);
	const [help, setHelp] = useState(false);
	const [tools, setTools] = useState(false); /* seen on phones, too */
	const [said, say] = useSaid();
	const picture = useRef<SceneSource | null>(null);
	const { profile } = shown;
	const page: Page = useMemo(
		() => ({
			report,
			profile,
			names: names(profile),
			state,
			shown,
			change: store.change,
			undo: store.canUndo() ? store.undo : null,
			dark,
			say,
			openMenu: (fn, x, y) => setMenu({ fn, x, y }),
			picture,
		}),
		[report, profile, state, shown, dark, say],
	);
	useKeys(page, store, () => setHelp(true));
	useEffect(keepFocus, [state.view]);
	const wide = state.view === "statistics";
	return (
		<div class="app">
			<div class={tools ? "top with-tools" : "top"}>
				<a class="skip" href="#view" onClick={skipToView}>
					Skip to the view
				</a>
				<Header page={page} onHelp={() => setHelp(true)} />
				{profile.meta.untimed ? null : (
					<div class="strip-slot">
						<TimelineView page={page} />
					</div>
				)}
				<nav class="tab-row" aria-label="Views">
					<Tabs page={page} />
					<button type="button" class="tools-button" aria-expanded={tools} onClick={() => setTools(!tools)}>
						Filters
					</button>
					<ViewOptions page={page} />
				</nav>
				<FilterBar page={page} />
				<Breadcrumbs page={page} />
				<LinkNote note={state.note} />
			</div>
			<main class={wide ? "main wide" : "main"}>
				<div class="view" id="view" role="tabpanel" aria-labelledby={`tab-${state.view}`} tabIndex={-1}>
					<ViewOf page={page} />
				</div>
				{wide ? null : <Details page={page} />}
			</main>
			<footer class="bottom">
				<Legend page={page} />
				<Notes page={page} />
			</footer>
			{menu ? (
				<ContextMenu
					key={`${menu.fn} ${menu.x} ${menu.y}`}
					page={page}
					at={menu}
					onClose={() => setMenu(null)}
				/>
			) : null}
			{help ? <Help onClose={() => setHelp(false)} /> : null}
			<div class="toast" role="status" aria-live="polite">
				{said}
			</div>
		</div>
	);
}

/** What had the focus may be gone with the view before. */
function keepFocus(): void {
	if (document.activeElement === document.body) document.getElementById("view")?.focus({ preventScroll: true });
}

/** Not by its address: that holds what is chosen. */
function skipToView(event: MouseEvent): void {
	event.preventDefault();
	document.getElementById("view")?.focus();
}
