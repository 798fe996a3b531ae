// SPDX-License-Identifier: Apache-2.0
// Make the page: `node build.mjs OUTDIR` writes OUTDIR/page.html, one file with its script and style inside and one
// line `<!--plumb-blocks-->` where the data goes. The policy in it allows this script and this style, and nothing else.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const blocks = "<!--plumb-blocks-->";

async function bundle(entry) {
	const result = await build({
		absWorkingDir: here,
		entryPoints: [entry],
		bundle: true,
		minify: true,
		write: false,
		format: "iife",
		target: ["es2022", "chrome105", "firefox113", "safari16.4"],
		jsx: "automatic",
		jsxImportSource: "preact",
		charset: "ascii",
		legalComments: "none",
		logLevel: "warning",
	});
	return result.outputFiles[0].text.trim();
}

function source(text) {
	return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** What must not stand inside the element: it would end it. */
function inside(element, text) {
	if (text.toLowerCase().includes(`</${element}`)) throw new Error(`the bundle contains "</${element}"`);
	return text;
}

function fill(page, mark, text) {
	const parts = page.split(mark);
	if (parts.length !== 2) throw new Error(`src/page.html must have ${mark} once`);
	return parts.join(text);
}

/** What the licence of Preact, which is in the script, asks for. */
function licence() {
	const text = readFileSync(join(here, "node_modules/preact/LICENSE"), "utf8").trim();
	if (text.includes("--")) throw new Error("the licence of Preact cannot stand in a comment");
	return `<!-- The script contains Preact:\n${text}\n-->`;
}

async function main(outdir) {
	const script = inside("script", await bundle("src/main.tsx"));
	const style = inside("style", await bundle("src/style.css"));
	const policy =
		`default-src 'none'; script-src ${source(script)}; style-src ${source(style)}; img-src data: blob:; ` +
		"base-uri 'none'; form-action 'none'";
	let page = readFileSync(join(here, "src/page.html"), "utf8");
	page = fill(page, "<!--plumb-policy-->", `<meta http-equiv="Content-Security-Policy" content="${policy}">`);
	page = fill(page, "<!--plumb-licence-->", licence());
	page = fill(page, "<!--plumb-style-->", `<style>${style}</style>`);
	page = fill(page, "<!--plumb-script-->", `<script>${script}</script>`);
	if (page.split("\n").filter((line) => line.trim() === blocks).length !== 1) {
		throw new Error(`src/page.html must have one line ${blocks}`);
	}
	mkdirSync(outdir, { recursive: true });
	writeFileSync(join(outdir, "page.html"), page);
}

if (process.argv.length !== 3) {
	console.error("usage: node build.mjs OUTDIR");
	process.exit(2);
}
await main(process.argv[2]);
