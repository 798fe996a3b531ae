// SPDX-License-Identifier: Apache-2.0
// Native functions that the compiler has put into their callers: as `plumb dump` says it. Layer model; pure.
import type { Profile } from "../data/profile";
import type { Shape } from "./tree";

/** How much of a function: in all places in which it was seen, in some, in none. */
export function inlinedIn({ locations, functions }: Profile, fn: number): "all" | "some" | "none" {
	const { inlined, start } = locations;
	if (!inlined || fn >= functions.count) return "none";
	const seen = inlined.subarray(start[fn], start[fn + 1]);
	if (!seen.includes(1)) return "none";
	return seen.includes(0) ? "some" : "all";
}

/** Of a node of a tree: in all of its function, else in the place that the node is known by. */
export function isInlinedAt(profile: Profile, tree: Shape, node: number): boolean {
	const fn = tree.fn[node]!;
	const where = inlinedIn(profile, fn);
	if (where !== "some") return where === "all";
	const location = profile.tree.location[tree.base[node]!]!;
	return profile.locations.fn[location] === fn && profile.locations.inlined?.[location] === 1;
}
