// SPDX-License-Identifier: Apache-2.0
// What the steps take of a CPU at sizes of profiles; `npm run bench [NODES]`. Budgets are milliseconds of a slow core;
// measured is CPU time, so that it means something on a machine that does other things.
import { decodeProfile } from "../src/data/decode";
import type { Report } from "../src/data/profile";
import { createDerived, type Shown } from "../src/state/derived";
import { initialState, type State } from "../src/state/state";
import { bigProfile, million, type Size } from "./big";

const rounds = 3;

interface Step {
	readonly name: string;
	readonly budgetMs: number | null;
	run(shown: (state: State) => Shown, round: number): unknown;
}

const plain: State = { ...initialState, startup: true };

const steps: readonly Step[] = [
	{ name: "filter and totals", budgetMs: null, run: (shown) => shown(plain).tree() },
	{
		name: "filter by time, again",
		budgetMs: 60,
		run: (shown, round) => shown({ ...plain, filter: { ...plain.filter, time: [1e8 * round, 2e9] } }).tree(),
	},
	{
		name: "search",
		budgetMs: 30,
		run: (shown, round) => shown({ ...plain, search: `function_${String(round)}` }).search(),
	},
	{ name: "function table", budgetMs: 40, run: (shown, round) => shown(other(round)).functionRows() },
	{
		name: "40 intervals of rows",
		budgetMs: null,
		run: (shown) => shown(plain).rowHalfWidths(Array.from({ length: 40 }, (_, i) => i)),
	},
	{ name: "figures of a node", budgetMs: null, run: (shown) => shown(plain).figures(shown(plain).tree(), 1) },
	{ name: "inverted", budgetMs: null, run: (shown) => shown(plain).inverted() },
	{ name: "callers", budgetMs: null, run: (shown, round) => shown(plain).callers(round) },
	{ name: "callees", budgetMs: null, run: (shown, round) => shown(plain).callees(round) },
	{
		name: "hide a function",
		budgetMs: null,
		run: (shown, fn) => shown({ ...plain, transforms: [{ type: "hide-function", fn }] }).tree(),
	},
	{ name: "tree by line", budgetMs: null, run: (shown) => shown({ ...plain, by: "line" }).tree() },
	{ name: "source files", budgetMs: null, run: (shown) => shown(plain).sourceFiles() },
	{ name: "statistics", budgetMs: null, run: (shown) => shown(plain).statistics() },
];

/** A state that makes trees anew, whose making is not part of what is measured. */
function other(round: number): State {
	return { ...plain, filter: { ...plain.filter, time: [2e8 * round, 3e9] } };
}

function now(): number {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1000;
}

function ms(from: number): number {
	return Math.round((now() - from) * 10) / 10;
}

function tell(name: string, budgetMs: number | null, times: readonly number[]): void {
	const budget = budgetMs === null ? "" : ` (budget ${String(budgetMs)})`;
	console.log(`  ${name.padEnd(26)} first ${String(times[0])} ms, least ${String(Math.min(...times))} ms${budget}`);
}

function measure(bytes: Uint8Array): void {
	const decodes = Array.from({ length: 3 }, () => {
		const from = now();
		const shown = createDerived({ profiles: [decodeProfile(bytes)], diff: null })(plain);
		shown.tree();
		return ms(from);
	});
	tell("decode, filter, totals", 350, decodes);
	const report: Report = { profiles: [decodeProfile(bytes)], diff: null };
	for (const step of steps) {
		const times = Array.from({ length: rounds }, (_, round) => {
			const shown = createDerived(report);
			shown(plain).tree();
			if (step.name === "function table") shown(other(round)).tree();
			const from = now();
			step.run(step.name === "filter and totals" ? createDerived(report) : shown, round);
			return ms(from);
		});
		tell(step.name, step.budgetMs, times);
	}
}

const wanted = Number(process.argv[2] ?? 0);
const sizes: readonly Size[] = [10_000, 100_000, 1_000_000].map((nodes) => ({ ...million, nodes }));

for (const size of sizes) {
	if (wanted && size.nodes !== wanted) continue;
	const bytes = bigProfile(size);
	console.log(`${String(size.nodes)} nodes, ${String(Math.round(bytes.length / 1000))} kB`);
	measure(bytes);
}
