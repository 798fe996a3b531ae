// SPDX-License-Identifier: Apache-2.0
// What passes the filters as collapsed ("folded") stacks, as `plumb report -f collapsed` writes them: one a line,
// `tid:ID;outer;inner COUNT`, where there are several processes with `pid:ID NAME;` before that. Layer model; pure.
import type { Profile } from "../data/profile";
import { Origin } from "../data/profile";
import type { Sieve } from "./filter";
import { intern, interner } from "./interner";
import { names } from "./names";
import { nodeOfSamples, type Shape } from "./tree";

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

/** What starts a program for another profiler, and is no part of it. */
function isLauncher(profile: Profile, fn: number): boolean {
	const { functions, strings } = profile;
	return fn < functions.count && strings[functions.file[fn]!]!.endsWith("_sync_coordinator.py");
}

/** Frames that are written alike are one part, but for equal base names of different files. */
interface Parts {
	readonly texts: readonly string[];
	/** By node; -1: it is not written. */
	readonly ofNode: Int32Array;
}

function partsOf(profile: Profile, shape: Shape): Parts {
	const { short, file } = names(profile);
	const { functions } = profile;
	const texts: string[] = [];
	const known = new Map<string, number>();
	const ofNode = Int32Array.from(shape.fn, (fn, node) => {
		if (isLauncher(profile, fn)) return -1;
		const line = shape.line[node]!;
		const bare = isBare(profile, fn, line);
		const key = `${String(functions.file[fn])} ${String(functions.name[fn])} ${String(bare)} ${String(line)}`;
		const found = known.get(key);
		if (found !== undefined) return found;
		const base = file(fn).slice(file(fn).lastIndexOf("/") + 1);
		texts.push(part(bare ? short(fn) : `${base}:${short(fn)}:${String(line)}`));
		known.set(key, texts.length - 1);
		return texts.length - 1;
	});
	return { texts, ofNode };
}

/** Stacks of parts: id - 1 is that of (stack of the caller, part); 0: no frame. */
function stacksOf(shape: Shape, { ofNode }: Parts) {
	const table = interner(shape.count);
	const ofShape = new Int32Array(shape.count);
	for (let i = 0; i < shape.count; i++) {
		const up = shape.parent[i]! < 0 ? 0 : ofShape[shape.parent[i]!]!;
		ofShape[i] = ofNode[i]! < 0 ? up : 1 + intern(table, up, ofNode[i]!, 0);
	}
	return { table, ofShape };
}

interface Line {
	readonly thread: number;
	readonly stack: number;
	samples: number;
	weight: number;
}

/** What a sieve lets through, by thread and stack; and which processes would have samples if all threads passed. */
function linesOf(profile: Profile, sieve: Sieve, shape: Shape, ofShape: Int32Array) {
	const { place, thread, state, bin, samples, weight } = profile.cells;
	const lines = new Map<number, Line>();
	const processes = new Set<number>();
	for (let i = 0; i < place.length; i++) {
		const [at, of, l] = [bin[i]!, thread[i]!, place[i]!];
		if (!sieve.asked[state[i]!] || at < sieve.fromBin || at >= sieve.toBin) continue;
		const node = l < 0 ? -2 : nodeOfSamples(shape, l);
		if (node === -1) continue;
		processes.add(profile.meta.threads[of]!.process);
		if (!sieve.threads[of] || !sieve.states[state[i]!]) continue;
		const stack = node < 0 ? 0 : ofShape[node]!;
		if (!stack) continue;
		const key = stack * sieve.threads.length + of;
		const line = lines.get(key) ?? { thread: of, stack, samples: 0, weight: 0 };
		line.samples += samples[i]!;
		line.weight += weight ? weight[i]! : samples[i]! * profile.meta.period_ns;
		lines.set(key, line);
	}
	return { lines: [...lines.values()], processes };
}

/** CPU time is told in periods, at least one. */
function countOf({ meta }: Profile, { samples, weight }: Line): number {
	if (meta.mode !== "cpu" || meta.period_ns === 0) return samples;
	return Math.max(1, Math.floor(weight / meta.period_ns + 0.5));
}

/** In the order of the bytes of UTF-8, which is that of code points. */
function compareText(a: string, b: string): number {
	let i = 0;
	while (i < a.length && a[i] === b[i]) i++;
	if (i > 0 && /[\udc00-\udfff]/.test(a[i] ?? b[i] ?? "")) i--;
	return (a.codePointAt(i) ?? -1) - (b.codePointAt(i) ?? -1);
}

function rootsOf({ meta }: Profile): string[] {
	return meta.processes.map(({ pid, name, host }) => {
		return `pid:${String(pid)}${name === "" ? "" : " "}${part(name)}${host ? "@" : ""}${part(host ?? "")};`;
	});
}

/** Most samples first. `whole`: no sample is left out but for its thread. Throws if it would be too long. */
export function folded(profile: Profile, sieve: Sieve, shape: Shape, whole: boolean): string {
	const parts = partsOf(profile, shape);
	const { table, ofShape } = stacksOf(shape, parts);
	const { lines, processes } = linesOf(profile, sieve, shape, ofShape);
	const roots = (whole ? profile.meta.processes.length : processes.size) > 1 ? rootsOf(profile) : null;
	let length = 0;
	const stackText = (stack: number): string => {
		const path: string[] = [];
		for (let at = stack; at; at = table.a[at - 1]!) path.push(parts.texts[table.b[at - 1]!]!);
		return path.reverse().join(";");
	};
	const written = lines.map((line) => {
		const { process, tid } = profile.meta.threads[line.thread]!;
		const text = stackText(line.stack);
		length += text.length;
		if (length > maxLength) throw new Error("the stacks shown are too many for a text: narrow them first");
		const count = countOf(profile, line);
		return { root: roots?.[process] ?? "", tid: `tid:${String(tid)};`, text, count, process };
	});
	written.sort(
		(a, b) =>
			b.count - a.count || compareText(a.root, b.root) || compareText(a.tid, b.tid) ||
			compareText(a.text, b.text) || a.process - b.process,
	);
	return written.map(({ root, tid, text, count }) => `${root}${tid}${text} ${String(count)}\n`).join("");
}
