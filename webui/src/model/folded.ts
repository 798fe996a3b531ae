// SPDX-License-Identifier: Apache-2.0
// A tree as collapsed ("folded") stacks, one a line: `outer;inner COUNT`, as flamegraph.pl and speedscope read them.
// Layer model; pure.
import type { Profile } from "../data/profile";
import { Origin } from "../data/profile";
import { names } from "./names";
import type { Tree } from "./tree";

/** Longer text than this is no use in a clipboard. */
const maxLength = 64e6;

/** Readers split at ';' and at line breaks; those are Unicode's. */
function part(text: string): string {
	// eslint-disable-next-line no-control-regex
	return text.replace(/;/g, ":").replace(/[\n-\r\x1c-\x1e\x85\u2028\u2029]/g, " ");
}

/** A frame that no file and line belong to: markers, native functions of unknown files. */
function isBare(profile: Profile, fn: number, line: number): boolean {
	const { functions, strings } = profile;
	if (fn >= functions.count || functions.origin[fn] === Origin.marker) return true;
	const file = strings[functions.file[fn]!]!;
	return line === 0 && (file === "~" || (file === "" && functions.origin[fn] !== Origin.python));
}

/** By node what it is called, as `plumb report -f collapsed` writes it: "app.py:work:12". */
function partsOf(profile: Profile, tree: Tree): (node: number) => string {
	const { short, file } = names(profile);
	const known = new Map<string, string>();
	return (node) => {
		const fn = tree.fn[node]!;
		const line = tree.line[node]!;
		const key = `${String(fn)}:${String(line)}`;
		let text = known.get(key);
		if (text === undefined) {
			const base = file(fn).slice(file(fn).lastIndexOf("/") + 1);
			text = part(isBare(profile, fn, line) ? short(fn) : `${base}:${short(fn)}:${String(line)}`);
			known.set(key, text);
		}
		return text;
	};
}

/** Equal stacks are one line, most samples first. `tree` is measured in samples. Throws if it would be too long. */
export function folded(profile: Profile, tree: Tree): string {
	const partOf = partsOf(profile, tree);
	const counts = new Map<string, number>();
	const path: string[] = [];
	let length = 0;
	for (let i = 0; i < tree.count; i++) {
		path.length = tree.depth[i]!;
		path.push(partOf(i));
		const own = Math.round(tree.self[i]!);
		if (own <= 0) continue;
		const stack = path.join(";");
		length += stack.length;
		if (length > maxLength) throw new Error("the stacks shown are too many for a text: narrow them first");
		counts.set(stack, (counts.get(stack) ?? 0) + own);
	}
	const order = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
	return order.map(([stack, n]) => `${stack} ${String(n)}\n`).join("");
}
