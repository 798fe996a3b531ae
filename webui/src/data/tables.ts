// SPDX-License-Identifier: Apache-2.0
// The function table with the rows that stand for whole modules and categories. Layer data; pure.
import type { FunctionTable, Meta } from "./profile";

type Columns = Omit<FunctionTable, "count" | "rows" | "modules">;

function longer<T extends Uint8Array | Uint32Array>(column: T, into: T): T {
	into.set(column);
	return into;
}

/** `strings` gets the names of the categories. */
export function functionTable(meta: Meta, strings: string[], own: Columns): FunctionTable {
	const count = own.name.length;
	const firstWith = new Map<number, number>();
	own.module.forEach((module, fn) => {
		if (!firstWith.has(module)) firstWith.set(module, fn);
	});
	const modules = Uint32Array.from(firstWith.keys());
	const rows = count + modules.length + meta.categories.length;
	const table = {
		count,
		rows,
		modules,
		name: longer(own.name, new Uint32Array(rows)),
		qualname: longer(own.qualname, new Uint32Array(rows)),
		file: longer(own.file, new Uint32Array(rows)),
		module: longer(own.module, new Uint32Array(rows)),
		line: longer(own.line, new Uint32Array(rows)),
		category: longer(own.category, new Uint8Array(rows)),
		origin: longer(own.origin, new Uint8Array(rows)),
	};
	let row = count;
	for (const [module, fn] of firstWith) {
		table.name[row] = table.qualname[row] = table.module[row] = module;
		table.category[row] = own.category[fn]!;
		table.origin[row] = own.origin[fn]!;
		row++;
	}
	for (const [i, category] of meta.categories.entries()) {
		table.name[row] = table.qualname[row] = strings.push(category.name) - 1;
		table.category[row] = i;
		row++;
	}
	return table;
}

export function rowOfModule(functions: FunctionTable, module: number): number {
	const at = functions.modules.indexOf(module);
	return at < 0 ? -1 : functions.count + at;
}

export function rowOfCategory(functions: FunctionTable, category: number): number {
	return functions.count + functions.modules.length + category;
}
