// SPDX-License-Identifier: Apache-2.0
/* Text of the program for the screen: of bearable length, and nothing in it is invisible or turns text round. */

import { cut, display } from "../model/names";

export function brief(text: string, length: number): string {
	return display(cut(text, length));
}

export function capital(text: string): string {
	return text.charAt(0).toUpperCase() + text.slice(1);
}
