// SPDX-License-Identifier: Apache-2.0
/* How to read the page, and all of its keys. */

import type { JSX } from "preact";

import { actions } from "./actions";
import { Dialog } from "./Dialog";

type Keys = readonly (readonly [keys: string, text: string])[];

const everywhere: Keys = [
	["1 … 8", "go to a view"],
	["/", "search; Escape clears it"],
	["u, Ctrl+Z", "undo a filter, a zoom or a change of the tree"],
	["Ctrl+Shift+Z", "do it again"],
	["l", "functions or lines"],
	["t", "time or samples"],
	["i", "inverted: innermost functions first"],
	["b", "flame graph grows upwards"],
	["Y", "copy what is shown as Markdown"],
	["Escape", "deselect"],
	["?", "this window"],
];
const graph: Keys = [
	["← → ↑ ↓", "neighbours, caller, callee"],
	["Enter", "fill the width with the box"],
	["Backspace, Escape", "back out"],
	["+ −, Ctrl+wheel", "zoom"],
	["Shift+F10", "menu of the function"],
];
const tables: Keys = [
	["↑ ↓, Page, Home, End", "move"],
	["→ ←", "open or close a branch; go to the callee, the caller"],
	["*", "open the whole branch"],
	["Enter", "functions: callers and callees; call tree: open or close"],
	["n p", "next, last row that was found"],
	["Shift+F10", "menu of the function"],
];

function KeyList({ title, keys }: { title: string; keys: Keys }): JSX.Element {
	return (
		<section>
			<h3>{title}</h3>
			<dl>
				{keys.map(([key, text]) => (
					<>
						<dt>
							<kbd>{key}</kbd>
						</dt>
						<dd>{text}</dd>
					</>
				))}
			</dl>
		</section>
	);
}

function HowToRead(): JSX.Element {
	return (
		<>
			<h3>How to read this page</h3>
			<p>
				plumb looked at the program many times a second and noted which functions were running or waiting. A
				share says in how many of those looks, weighted by time, a function was there.
			</p>
			<p>
				<b>Self</b> is time in the function itself, <b>total</b> is time in it and in all that it called,
				counted once however often it is on the stack.
			</p>
			<p>
				<b>52 % ±1.1</b> says: with 95 % confidence the true share is between 50.9 and 53.1 %. Two functions
				whose intervals overlap may well be equally slow.
			</p>
			<p>
				In the <b>flame graph</b> each box is a function below its caller, and as wide as its share. Left and
				right say nothing about when; the darker end of a box is its own time. Boxes that are too narrow to
				draw share a grey strip: click it. <b>Inlined</b> is a native function that the compiler has put into
				its caller.
			</p>
			<p>
				Follow the widest boxes down until you find code that you can change. Much <b>waiting</b>? Then the
				answer is in what is waited for: choose “Waiting” in the legend. Much waiting for the GIL? Threads
				stand in each other’s way.
			</p>
			<p>
				The strip on top is the whole recording, a row for each thread: drag over it, and everything shows
				that time only. All that you choose is in the address of the page: a link reopens it.
			</p>
		</>
	);
}

export function Help({ onClose }: { onClose: () => void }): JSX.Element {
	return (
		<Dialog title="Help" onClose={onClose}>
			<HowToRead />
			<h3>Keys</h3>
			<div class="keys">
				<KeyList title="Everywhere" keys={everywhere} />
				<KeyList title="With a function selected" keys={actions.map((action) => [action.key, action.name])} />
				<KeyList title="Flame graphs" keys={graph} />
				<KeyList title="Tables and call tree" keys={tables} />
			</div>
		</Dialog>
	);
}
