// SPDX-License-Identifier: Apache-2.0
/* Text that fits into a box. A name may have 64 KiB: it is cut to what could fit before it is measured. */

const NARROWEST = 2; /* pixels of the thinnest letter, and less */
const DOTS = "…";

export interface Labels {
	/** The text, or its beginning with dots, or nothing if not even a letter would fit. */
	fit(text: string, width: number): string;
}

function isAscii(text: string): boolean {
	for (let i = 0; i < text.length; i++) {
		if (text.charCodeAt(i) > 126) return false;
	}
	return true;
}

/** Without half of a character that is made of two units. */
function firstUnits(text: string, units: number): string {
	const last = text.charCodeAt(units - 1);
	return text.slice(0, last >= 0xd800 && last < 0xdc00 ? units - 1 : units);
}

/** The longest beginning that fits, found by halving. */
function longestBeginning(text: string, room: number, widthOf: (text: string) => number): string {
	let fits = 0;
	let tooLong = text.length + 1;
	while (tooLong - fits > 1) {
		const middle = (fits + tooLong) >> 1;
		if (widthOf(firstUnits(text, middle)) <= room) fits = middle;
		else tooLong = middle;
	}
	return fits === 0 ? "" : firstUnits(text, fits);
}

export function labelsFor(context: CanvasRenderingContext2D): Labels {
	const letters = new Float64Array(128);
	for (let code = 32; code < 127; code++) letters[code] = context.measureText(String.fromCharCode(code)).width;
	const dots = context.measureText(DOTS).width;

	function widthOf(text: string): number {
		if (!isAscii(text)) return context.measureText(text).width;
		let width = 0;
		for (let i = 0; i < text.length; i++) width += letters[text.charCodeAt(i)];
		return width;
	}
	return {
		fit(text, width) {
			const most = Math.ceil(width / NARROWEST);
			const candidate = text.length > most ? firstUnits(text, most) : text;
			if (candidate.length === text.length && widthOf(text) <= width) return text;
			const beginning = longestBeginning(candidate, width - dots, widthOf);
			return beginning === "" ? "" : beginning + DOTS;
		},
	};
}
