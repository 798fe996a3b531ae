// SPDX-License-Identifier: Apache-2.0
/* What every part of the page is given. */

import type { SceneSource } from "../canvas/picture";
import type { Profile, Report } from "../data/profile";
import type { Names } from "../model/names";
import type { Shown } from "../state/derived";
import type { State } from "../state/state";
import type { Change } from "../state/store";

export interface Page {
	readonly report: Report;
	/** The one that is shown; of a comparison one of two. */
	readonly profile: Profile;
	readonly names: Names;
	readonly state: State;
	readonly shown: Shown;
	readonly change: Change;
	/** Null: there is nothing to undo. */
	readonly undo: (() => void) | null;
	readonly dark: boolean;
	/** Tell the reader something, also by voice. */
	readonly say: (text: string) => void;
	/** What can be done with a function, as a menu at a point of the window. */
	readonly openMenu: (fn: number, x: number, y: number) => void;
	/** The canvas view that is seen, if there is one, puts here how to draw it. */
	readonly picture: { current: SceneSource | null };
}
