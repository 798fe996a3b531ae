// SPDX-License-Identifier: Apache-2.0
import js from "@eslint/js";
import tseslint from "typescript-eslint";

// What a folder of src may import, besides itself: docs/design/006-report-page.md.
const layers = {
	data: [],
	model: ["data"],
	state: ["data", "model"],
	canvas: ["data", "model"],
	views: ["data", "model", "state", "canvas"],
};

function layerRule(folder) {
	const forbidden = Object.keys(layers).filter((other) => other !== folder && !layers[folder].includes(other));
	const withoutDom = folder === "model" || folder === "state";
	return {
		files: [`src/${folder}/**`],
		rules: {
			"no-restricted-imports": [
				"error",
				{
					patterns: [
						...forbidden.map((other) => ({
							group: [`**/${other}/*`],
							message: `src/${folder} may not use src/${other}`,
						})),
						{ regex: "^(\\.\\./){2,}", message: "stay inside src" },
						...(folder === "views" ? [] : [{ group: ["preact", "preact/*"], message: "views only" }]),
					],
				},
			],
			"no-restricted-globals": withoutDom ? ["error", "document", "window", "navigator", "location"] : "off",
		},
	};
}

export default tseslint.config(
	{ ignores: ["node_modules", "dist"] },
	js.configs.recommended,
	...tseslint.configs.strict,
	...tseslint.configs.stylistic,
	{
		rules: {
			eqeqeq: "error",
			curly: ["error", "multi-line"],
			"no-var": "error",
			"prefer-const": "error",
			"max-len": ["error", { code: 120, tabWidth: 4, ignoreUrls: true }],
			// An index that is in range by construction: typed arrays are read in every line.
			"@typescript-eslint/no-non-null-assertion": "off",
		},
	},
	{
		files: ["*.mjs", "*.js", "test/*.mjs"],
		languageOptions: { globals: { console: "readonly", process: "readonly", URL: "readonly" } },
	},
	...Object.keys(layers).map(layerRule),
);
