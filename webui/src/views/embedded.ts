// SPDX-License-Identifier: Apache-2.0
/** In a notebook the page is a sandboxed frame made of text: it has no address to keep or link to and saves nothing. */
export function embedded(): boolean {
	return location.protocol === "about:";
}
