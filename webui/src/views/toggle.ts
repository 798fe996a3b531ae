// SPDX-License-Identifier: Apache-2.0
/* A change of the call tree as something that is on or off. */

import type { Transform } from "../model/transform";
import type { Page } from "./page";

interface Toggle {
	readonly on: boolean;
	readonly turn: () => void;
}

/** On where one of the steps is `isIt`; turned off, all of these are taken out. */
export function toggleOf(page: Page, step: Transform, isIt: (one: Transform) => boolean): Toggle {
	const { transforms } = page.state;
	const others = transforms.filter((one) => !isIt(one));
	const on = others.length < transforms.length;
	return { on, turn: () => page.change({ transforms: on ? others : [...transforms, step], zoom: null }) };
}
