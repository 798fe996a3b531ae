// SPDX-License-Identifier: Apache-2.0
// Frames that stand between a program and what started it, and say nothing about it: the module runner, the machinery
// of import, where threads begin, all that a notebook's kernel has around a cell, and what a process of multiprocessing
// has from the one that started it. Layer model; pure.
import type { Profile } from "../data/profile";
import { Origin } from "../data/profile";

/** Anywhere in a stack: an import goes through four of them. */
const runners = ["<frozen importlib._bootstrap", "<frozen runpy>", "<frozen zipimport>"];
/** Only outermost, or below others of these kinds. */
const threadStarters = new Set(["_bootstrap", "_bootstrap_inner", "Thread._bootstrap", "Thread._bootstrap_inner"]);
const threadRuns = new Set(["Thread.run", "run"]);
const processStarters = new Set(["_bootstrap", "BaseProcess._bootstrap", "Process._bootstrap"]);
const processRuns = new Set(["run", "BaseProcess.run", "Process.run"]);

/** `gate`: with all that it stands in. `fork`: what it calls begins anew, and what it stands in, which is the parent's,
 * stays. `label`: none, but stays above what a fork calls. */
export const Startup = { none: 0, anywhere: 1, outermost: 2, gate: 3, fork: 4, label: 5 } as const;

function isRunner(file: string): boolean {
	return runners.some((name) => file.startsWith(name)) || /\/lib(64)?\/python[^/]*\/runpy\.py$/.test(file);
}

/** What %plumb runs a cell in. */
function isCell(file: string, name: string): boolean {
	return name.endsWith("run") && /(^|\/)plumb\/_jupyter\.py$/.test(file);
}

/** A child that was forked has the whole stack of its parent, up to the fork. */
function ofProcess(name: string): number {
	if (processStarters.has(name)) return Startup.fork;
	return processRuns.has(name) ? Startup.outermost : Startup.none;
}

/** By row of the function table: one of `Startup`. */
export function startupFunctions(profile: Profile): Uint8Array {
	const { functions, strings } = profile;
	const kinds = new Uint8Array(functions.rows);
	for (let fn = 0; fn < functions.count; fn++) {
		const file = strings[functions.file[fn]!]!;
		const name = strings[functions.qualname[fn]!]!;
		if (functions.origin[fn] === Origin.marker && name.startsWith("[")) kinds[fn] = Startup.label;
		else if (isRunner(file)) kinds[fn] = Startup.anywhere;
		else if (isCell(file, name)) kinds[fn] = Startup.gate;
		else if (/(^|\/)threading\.py$/.test(file) && (threadStarters.has(name) || threadRuns.has(name))) {
			kinds[fn] = Startup.outermost;
		} else if (/(^|\/)multiprocessing\/process\.py$/.test(file)) kinds[fn] = ofProcess(name);
	}
	return kinds;
}
