// SPDX-License-Identifier: Apache-2.0
// What a page holds once it is decoded. Typed arrays side by side, never an object a node: a profile has a million of
// them. Layer data; types. What the numbers in them mean: words.ts.
import { activities, type losses, type modes } from "./words";

export { activities, Origin, Quality, State } from "./words";

/** How a profile was taken. Members are those of `plumb report --json` (docs/user/json.md). */
export interface WaitPlace {
	readonly name: string;
	readonly file: string;
	readonly line: number;
	readonly task_ns: number;
}

/** The tasks of one outermost coroutine, and what they waited for. */
export interface WaitRoot extends WaitPlace {
	readonly computed_ns: number;
	readonly places: readonly (WaitPlace & { readonly what: string })[];
}

/** In task seconds; the most first. */
export interface Waits {
	readonly task_ns: number;
	/** Of which it is not known whether tasks waited. */
	readonly lost_ns: number;
	readonly roots: readonly WaitRoot[];
}

/** Where a function is: its row of the function table, if it has one. */
export interface LoopPlace {
	readonly function?: number | null;
	readonly name: string;
	readonly file: string;
	readonly line: number;
}

/** A stretch in which an event loop was held. */
export interface LoopHold extends LoopPlace {
	readonly pid: number;
	readonly tid: number;
	readonly begin_ns: number;
	readonly length_ns: number;
	readonly without_cpu_ns: number;
}

/** As in `plumb.report/1`: the longest first. */
export interface LoopHolds {
	readonly gap_ns: number;
	readonly least_ns: number;
	readonly count: number;
	readonly held_ns: number;
	readonly holders: readonly (LoopPlace & {
		readonly count: number;
		readonly held_ns: number;
		readonly longest_ns: number;
	})[];
	readonly longest: readonly LoopHold[];
}

export interface Lock {
	readonly pid: number;
	readonly id: string;
	readonly type: string;
}

/** What a sample that waited for a lock saw of it. */
export interface LockState {
	/** Index into `locks`. */
	readonly lock: number;
	readonly holder: "unknown" | "passed_on" | "held";
	readonly thread?: string;
	/** Where the holder stood inside `with` of the lock, if that is known: a row of the function table if it has one,
	 * and its name. */
	readonly function?: number | null;
	readonly name?: string;
	readonly file?: string;
	readonly line?: number;
}

/** What happened at a moment: a row of `eventKinds`, its time on the timeline, and of whom it was. */
export interface HappenedEvent {
	readonly kind: number;
	readonly at_ns: number;
	readonly name: string;
	readonly duration_ns?: number;
	readonly pid?: number;
	/** Row of the threads. */
	readonly thread?: number;
	readonly labels?: Readonly<Record<string, string>>;
}

export interface Meta {
	readonly schema: string;
	readonly made_by: string;
	readonly plumb_version: string;
	readonly command: string;
	readonly host: string;
	readonly engine: string;
	readonly mode: keyof typeof modes;
	/** ISO 8601, or null. */
	readonly start: string | null;
	readonly duration_ns: number;
	/** 0: as fast as possible. */
	readonly period_ns: number;
	readonly jitter: boolean;
	readonly seed: string;
	readonly complete: boolean;
	/** What is wrong with the program, the gravest first, as in `plumb.report/1`. */
	readonly findings?: readonly Finding[];
	/** How far its figures can be trusted, in a line, and what keeps them from being the whole truth. */
	readonly quality?: string | null;
	readonly warnings?: readonly string[];
	/** By which text and Markdown multiply times, to allow for what was missed; views of the page do not. */
	readonly time_scale?: number;
	/** Where tasks were looked at, and some waited. */
	readonly waits?: Waits;
	/** Where event loops were held. */
	readonly loop_holds?: LoopHolds;
	/** Where threads waited for locks. */
	readonly locks?: readonly Lock[];
	readonly lock_states?: readonly LockState[];
	/** Nothing is known of when its samples were: there is no timeline. */
	readonly untimed: boolean;
	/** Pauses between recordings that were added up, which are not in the timeline. */
	readonly pauses?: number;
	/** Weights are numbers of samples; nothing is known of time. */
	readonly counted: boolean;
	readonly imported: boolean;
	/** Samples were left out for what they show: ticks are not the whole of what is left. */
	readonly selected: boolean;
	readonly ticks: number;
	/** The time that they stand for; 0: not known. */
	readonly taken_ns?: number;
	readonly losses: Losses;
	readonly overhead: Overhead;
	readonly bin_ns: number;
	readonly bins: number;
	readonly batch_ns: number;
	readonly processes: readonly Process[];
	readonly threads: readonly Thread[];
	readonly categories: readonly Category[];
	readonly opcodes: Readonly<Record<string, string>>;
	/** Rows of the function table that are no functions, but tags: what the program said threads worked for. */
	readonly tags?: readonly Tag[];
	/** What happened at a moment, by time. */
	readonly events?: readonly HappenedEvent[];
	/** Subtrees that were too light to be kept: below that share, so many; they are counted at their callers, that
	 * share of all. */
	readonly pruned: { readonly share: number; readonly nodes: number; readonly weight?: number } | null;
	/** The command that left out a part of the recording; null: none did. */
	readonly filter: string | null;
	/** What the page begins with: idle threads and samples as in `plumb.report/1`, functions or lines. */
	readonly idle?: "hide-threads" | "keep" | "skip-samples";
	readonly lines?: boolean;
	/** Source files that were not stored. */
	readonly sources_left_out?: number;
	readonly recording: string | null;
}

export interface Label {
	readonly name: string;
	readonly value: string;
}

export interface Tag {
	readonly function: number;
	readonly labels: readonly Label[];
}

export interface Finding {
	readonly rule: string;
	readonly sentence: string;
	readonly figures?: Readonly<Record<string, number>>;
}

type Loss = (typeof losses)[number]["name"];

export interface Losses extends Readonly<Record<Loss, number>> {
	readonly missed_ns: number | null;
	readonly damaged_parts?: number;
}

export interface Overhead {
	readonly stops: number;
	readonly stopped_ns: number;
	readonly stops_refused: {
		readonly tracer: number;
		readonly rights: number;
		readonly filter: number;
		readonly other: number;
		readonly last: string | null;
	};
	readonly profiler_cpu_ns: number;
	/** The share of a core that it may use; null: there was no limit. */
	readonly limit: number | null;
	/** The share of its time for which the program may stand still; null: there was no limit. */
	readonly stopped_limit?: number | null;
	/** The rate that came of the limit; null: the one that was asked for. */
	readonly lowered_to_hz?: number | null;
	/** For which of both limits. */
	readonly lowered_for?: "stopped" | "profiler_cpu" | null;
}

export interface Process {
	readonly pid: number;
	readonly parent: number;
	readonly name: string;
	readonly program: string;
	readonly python: string;
	readonly host?: string;
	readonly start_ns: number;
	readonly came_ns: number;
	readonly ended_ns: number | null;
	readonly samples: number;
	readonly weight_ns: number;
}

export interface Thread {
	/** Index into `processes`. */
	readonly process: number;
	readonly pid: number;
	readonly tid: number;
	readonly name: string;
	readonly main: boolean;
	/** It did nothing all along: left out unless asked for. */
	readonly idle: boolean;
	readonly samples: number;
	readonly weight_ns: number;
	readonly on_cpu: number;
	readonly has_gil: number;
	readonly wants_gil: number;
	readonly cpu_ns: number | null;
}

export interface Category {
	readonly name: string;
	/** CSS colour of a box with black text on it. */
	readonly fill: string;
}

/** Functions, the most used first. Rows from `count` on are no functions of the program but stand for what can be
 * collapsed into one frame: first each module (`modules`), then each category. All columns have `rows` entries. */
export interface FunctionTable {
	readonly count: number;
	readonly rows: number;
	/** String ids. */
	readonly name: Uint32Array;
	readonly qualname: Uint32Array;
	readonly file: Uint32Array;
	readonly module: Uint32Array;
	/** Where it is defined; 0: not known. */
	readonly line: Uint32Array;
	/** Index into `meta.categories`. */
	readonly category: Uint8Array;
	/** One of `Origin`. */
	readonly origin: Uint8Array;
	/** String ids of the modules there are; row `count + i` stands for module i. */
	readonly modules: Uint32Array;
}

/** The places in functions that were sampled, function by function, sorted by line. */
export interface LocationTable {
	readonly count: number;
	/** Those of function f: start[f] .. start[f + 1] - 1. */
	readonly start: Uint32Array;
	readonly fn: Uint32Array;
	/** 0: none. */
	readonly line: Int32Array;
	readonly endLine: Int32Array;
	/** From 0, in bytes of UTF-8; -1: none. */
	readonly column: Int32Array;
	readonly endColumn: Int32Array;
	/** 0: none, else 1 + number. */
	readonly opcode: Uint16Array;
	/** 1: the function, which is native, was compiled into its caller there; null: none is. */
	readonly inlined: Uint8Array | null;
}

/** The call tree as it was recorded. F nodes, one for each function below its caller, in preorder; each is made of
 * places (L nodes): the distinct (location, place of the caller). Callers come before callees in both. */
export interface BaseTree {
	/** Number of F nodes. */
	readonly count: number;
	readonly parent: Int32Array;
	readonly depth: Int32Array;
	/** Behind the last node of the subtree. */
	readonly end: Int32Array;
	readonly fn: Uint32Array;
	/** Places of F node n: firstPlace[n] .. firstPlace[n + 1] - 1. */
	readonly firstPlace: Int32Array;
	/** Number of L nodes. */
	readonly places: number;
	/** Of L nodes: index into the locations, L node of the caller (-1: none), F node. */
	readonly location: Uint32Array;
	readonly caller: Int32Array;
	readonly node: Int32Array;
}

/** States of samples with their quality, `state << 2 | quality`, are below this. */
export const stateKinds = 1 << 14;

/** The samples, added up. Sorted by place. */
export interface Cells {
	readonly count: number;
	/** L node, -1: a stack without frames. */
	readonly place: Int32Array;
	readonly thread: Uint32Array;
	/** State << 2 | quality. */
	readonly state: Uint16Array;
	/** In bins of `binNs`. */
	readonly bin: Uint32Array;
	readonly samples: Float64Array;
	/** ns; null: samples * meta.period_ns. */
	readonly weight: Float64Array | null;
	/** Of samples that waited for the GIL: 1 if nobody was seen to hold it, else 2 + the function that did; else 0.
	 * Null: nobody waited for it. */
	readonly heldBy: Int32Array | null;
	/** Of samples that waited for a lock: 1 if it is not known, else 2 + a row of meta.lock_states; else 0. Null:
	 * nobody waited for one. */
	readonly lock: Int32Array | null;
	readonly binNs: number;
	readonly bins: number;
}

/** What threads did when. Kinds in the order of the columns: */
export const stripKinds = activities.map(({ word }) => word);

/** Runs of thread t: start[t] .. start[t + 1] - 1, bins rising. */
export interface Strip {
	readonly bins: number;
	readonly binNs: number;
	readonly start: Uint32Array;
	readonly bin: Uint32Array;
	/** Samples of kind k in run r: samples[r * stripKinds.length + k]. */
	readonly samples: Float64Array;
}

/** Lines of a source file that the page has; others were not near anything sampled. */
export interface Source {
	/** What ran may have been another text. */
	readonly changed: boolean;
	readonly ranges: readonly { readonly firstLine: number; readonly lines: readonly string[] }[];
}

export interface Profile {
	readonly meta: Meta;
	/** String 0 is empty. */
	readonly strings: readonly string[];
	readonly functions: FunctionTable;
	readonly locations: LocationTable;
	readonly tree: BaseTree;
	readonly cells: Cells;
	readonly strip: Strip;
	/** By string id of the file. */
	readonly sources: ReadonlyMap<number, Source>;
}

export type Verdict = "same" | "new" | "gone" | "more" | "less";

/** One figure of a comparison; members as in `plumb.diff/1`. */
export interface DiffFigure {
	readonly verdict: Verdict;
	readonly before: number;
	readonly after: number;
	readonly change: number;
	readonly half_width: number;
	readonly relative: number | null;
	readonly relative_half_width: number | null;
	readonly p: number;
	readonly q: number;
	readonly detectable: number | null;
	readonly before_samples: number;
	readonly after_samples: number;
}

export interface DiffRow {
	readonly name: string;
	readonly qualname: string;
	readonly file: string;
	readonly line: number;
	readonly kind: string;
	/** Of paths: index of the row that called it, or null. */
	readonly caller?: number | null;
	readonly self: DiffFigure;
	readonly total: DiffFigure;
}

export interface DiffSide {
	readonly recordings: string | null;
	readonly runs: number;
	readonly samples: number;
	readonly weight_ns: number;
}

/** The judgement of `plumb diff --json`. */
export interface DiffReport {
	readonly schema: string;
	readonly made_by: string | null;
	readonly normalized_by: { readonly scale: string; readonly function: string | null };
	readonly variance: string;
	readonly false_discovery_rate: { readonly self: number; readonly total: number };
	readonly smallest_change: number;
	readonly moved: number;
	readonly before: DiffSide;
	readonly after: DiffSide;
	/** What a run took on either side, as time of all threads; null if that is not known. */
	readonly all: {
		readonly before_ns: number;
		readonly after_ns: number;
		readonly relative: number | null;
		readonly relative_half_width: number | null;
	} | null;
	/** The unit of work by which times are divided, if any. */
	readonly per: { readonly unit: string; readonly before: number; readonly after: number } | null;
	readonly changes: { readonly self: number; readonly total: number };
	readonly rows: "functions" | "lines" | "paths";
	readonly list: readonly DiffRow[];
}

/** All that a page shows. */
export interface Report {
	/** One; in a comparison two: before, after. */
	readonly profiles: readonly Profile[];
	readonly diff: { readonly functions: DiffReport; readonly paths: DiffReport } | null;
}
