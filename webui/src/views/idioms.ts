// SPDX-License-Identifier: Apache-2.0
/* What it means when much time is in some well-known functions of the standard library, and what to do then. */

import { Origin, type Profile } from "../data/profile";

interface Idiom {
	readonly module: string;
	/** Qualified names; up to Python 3.10 only their last part may be known. */
	readonly functions: readonly string[];
	readonly text: string;
}

const idioms: readonly Idiom[] = [
	{
		module: "re",
		functions: ["_compile"],
		text:
			"Looks a pattern up, or compiles it: some hundreds are kept. Call re.compile() once, outside of the " +
			"loop, and use what it returns.",
	},
	{
		module: "json.encoder",
		functions: [
			"_make_iterencode.<locals>._iterencode",
			"_make_iterencode.<locals>._iterencode_dict",
			"_make_iterencode.<locals>._iterencode_list",
		],
		text:
			"The encoder that is written in Python. json.dump() takes it, and so does indent=. json.dumps() without " +
			"indent takes the one that is written in C, and is several times faster.",
	},
	{
		module: "copy",
		functions: ["deepcopy", "_deepcopy_dict", "_deepcopy_list", "_reconstruct"],
		text: "Copies all that can be reached, object by object. Copy only what will be changed, or build it anew.",
	},
	{
		module: "dataclasses",
		functions: ["asdict", "_asdict_inner"],
		text: "Copies all values deeply. Where that is not needed, a dict of the fields by hand is many times faster.",
	},
	{
		module: "_strptime",
		functions: ["_strptime"],
		text: "Reads a date by a format. For ISO dates datetime.fromisoformat() is many times faster.",
	},
	{
		module: "inspect",
		functions: ["stack", "getouterframes", "getframeinfo", "getinnerframes"],
		text: "Reads source files for each frame. sys._getframe() gives the caller's frame without that.",
	},
	{
		module: "logging",
		functions: ["Logger._log", "Logger.findCaller"],
		text:
			"Records that are really made: their level is on. Raise it for the loggers of hot code, and ask " +
			"logger.isEnabledFor() before arguments that are dear to make.",
	},
	{
		module: "typing",
		functions: ["get_type_hints"],
		text: "Evaluates annotations anew at each call. Keep the result by class.",
	},
	{
		module: "importlib._bootstrap",
		functions: ["_find_and_load", "_find_and_load_unlocked", "_load_unlocked"],
		text:
			"Modules are being imported. Import what is rarely needed where it is needed; python -X importtime " +
			"lists them.",
	},
	{
		module: "selectors",
		functions: ["EpollSelector.select", "SelectSelector.select", "PollSelector.select"],
		text: "An event loop or a server that waits for something to happen. What it does then stands under CPU.",
	},
	{
		module: "threading",
		functions: ["Condition.wait", "Event.wait", "Thread.join", "_wait_for_tstate_lock"],
		text: "Waits for another thread. Choose CPU to see what that one does.",
	},
	{
		module: "queue",
		functions: ["Queue.get"],
		text: "A worker that waits for work. Much of it: there are more workers than work, or what makes work is slow.",
	},
	{
		module: "concurrent.futures._base",
		functions: ["Future.result", "wait"],
		text: "Waits for a worker to end. What it does stands in the worker's thread or process.",
	},
	{
		module: "subprocess",
		functions: ["Popen.communicate", "Popen.wait", "Popen._wait", "Popen._communicate"],
		text: "Waits for another program. If that is a Python, it is sampled, too (attach: --subprocesses).",
	},
	{
		module: "multiprocessing.connection",
		functions: ["Connection._recv", "Connection._send"],
		text: "Data on the way between processes, or waiting for it. Send less: names or indexes rather than objects.",
	},
	{
		module: "socket",
		functions: ["SocketIO.readinto"],
		text: "Waits for what is at the other end of a connection.",
	},
];

/** Frames that are no functions. */
const markers: ReadonlyMap<string, string> = new Map([
	[
		"<moving>",
		"No function: the stack changed while it was read. What stands above is proved, what was called below is not " +
			"known.",
	],
	["<GC>", "No function: the garbage collector was at work."],
	["<no Python frame>", "No function: the thread ran no Python at that moment."],
	["<folded>", "No function: there were too many different stacks, and the inner part of this one was left out."],
]);

function lastPart(qualname: string): string {
	return qualname.slice(qualname.lastIndexOf(".") + 1);
}

/** Null: it is none of these. */
export function idiomOf({ functions, strings, meta }: Profile, fn: number): string | null {
	if (functions.origin[fn] === Origin.marker) return markers.get(strings[functions.name[fn]!]!) ?? null;
	if (fn >= functions.count || meta.categories[functions.category[fn]!]?.name !== "Standard library") return null;
	const module = strings[functions.module[fn]!];
	const name = strings[functions.qualname[fn]!] || strings[functions.name[fn]!];
	const isIt = (one: string): boolean => one === name || lastPart(one) === name;
	return idioms.find((one) => one.module === module && one.functions.some(isIt))?.text ?? null;
}
