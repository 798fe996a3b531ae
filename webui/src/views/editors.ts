// SPDX-License-Identifier: Apache-2.0
/* Editors that open a place of a file by a link. */

interface Editor {
	readonly name: string;
	readonly link: (path: string, line: number) => string;
}

function asPath(scheme: string): Editor["link"] {
	return (path, line) => `${scheme}://file${path}${line > 0 ? `:${line}` : ""}`;
}

/** By the name that the address of the page has for them. */
export const editors: Readonly<Record<string, Editor>> = {
	vscode: { name: "VS Code", link: asPath("vscode") },
	vscodium: { name: "VSCodium", link: asPath("vscodium") },
	cursor: { name: "Cursor", link: asPath("cursor") },
	zed: { name: "Zed", link: asPath("zed") },
	idea: { name: "IntelliJ", link: (path, line) => `idea://open?file=${path}&line=${Math.max(line, 1)}` },
	pycharm: { name: "PyCharm", link: (path, line) => `pycharm://open?file=${path}&line=${Math.max(line, 1)}` },
};

/** Not one that Windows would ask another machine for: of that the program has chosen the name. */
export function isPlace(file: string): boolean {
	return /^\/(?![/\\?])/.test(file);
}

/** Null: no such editor, or a file that has no place on a disk. Line 0: none. */
export function editorLink(editor: string, file: string, line: number): string | null {
	const known = Object.hasOwn(editors, editor) ? editors[editor] : undefined;
	if (!known || !isPlace(file)) return null;
	const path = file.replace(/\p{Cs}/gu, "\ufffd").split("/").map(encodeURIComponent).join("/");
	return known.link(path, line);
}
