// SPDX-License-Identifier: Apache-2.0
// Compile test/*.test.ts and run them with node's own runner; `bench` runs test/bench.ts instead. Arguments behind that
// are names of tests: `node test/run.mjs tree` runs tree.test.ts.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.slice(2);
const bench = wanted[0] === "bench";

function entries() {
	if (bench) return ["bench.ts"];
	const tests = readdirSync(here).filter((name) => name.endsWith(".test.ts"));
	return wanted.length ? tests.filter((name) => wanted.includes(name.slice(0, -".test.ts".length))) : tests;
}

const outdir = mkdtempSync(join(tmpdir(), "plumb-page-test-"));
try {
	await build({
		absWorkingDir: here,
		entryPoints: entries(),
		bundle: true,
		platform: "node",
		target: "node18",
		format: "esm",
		outdir,
		outExtension: { ".js": ".mjs" },
		sourcemap: "inline",
		logLevel: "warning",
	});
	const files = readdirSync(outdir).map((name) => join(outdir, name));
	const args = bench ? [...files, ...wanted.slice(1)] : ["--test", ...files];
	const options = { cwd: dirname(here), stdio: "inherit" };
	const result = spawnSync(process.execPath, ["--enable-source-maps", ...args], options);
	process.exitCode = result.status ?? 1;
} finally {
	rmSync(outdir, { recursive: true });
}
