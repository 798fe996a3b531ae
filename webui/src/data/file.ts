// SPDX-License-Identifier: Apache-2.0
// The blocks of a page: base64 of gzip in <script type="text/plain">. Layer data.
import { decodeInSteps } from "./decode";
import type { DiffReport, Report } from "./profile";
import type { DataSource } from "./source";

export interface Block {
	readonly kind: string;
	readonly text: string;
}

/** In current browsers; not in the types of this TypeScript yet. */
const native = Uint8Array as { fromBase64?: (text: string) => Uint8Array };

function fromBase64(text: string): Uint8Array {
	if (native.fromBase64) return native.fromBase64(text);
	const binary = atob(text.trim());
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
	return bytes;
}

const tooOld =
	"This browser is too old to unpack the data of the page: it needs DecompressionStream " +
	"(Chrome 80, Firefox 113, Safari 16.4).";

/** Until what waits has been done: a timer would wait for 4 ms, too. */
export async function otherTasks(): Promise<void> {
	return new Promise((done) => {
		const { port1, port2 } = new MessageChannel();
		port1.onmessage = () => {
			port1.close();
			done();
		};
		port2.postMessage(null);
	});
}

/** So many bytes are unpacked at once: some milliseconds. */
const PIECE = 2 ** 16;

/** Piece by piece; what waits is done in between. */
function pieces(bytes: Uint8Array): ReadableStream<Uint8Array<ArrayBuffer>> {
	let at = 0;
	return new ReadableStream({
		async pull(stream) {
			await otherTasks();
			if (at >= bytes.length) stream.close();
			else stream.enqueue(bytes.subarray(at, (at += PIECE)) as Uint8Array<ArrayBuffer>);
		},
	});
}

async function gunzip(bytes: Uint8Array): Promise<Uint8Array> {
	const stream = pieces(bytes).pipeThrough(new DecompressionStream("gzip"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unpack(text: string): Promise<Uint8Array> {
	try {
		return await gunzip(fromBase64(text));
	} catch (why) {
		throw new Error("its data cannot be unpacked", { cause: why });
	}
}

type Decode<T> = (bytes: Uint8Array) => T | Promise<T>;

async function each<T>(blocks: readonly Block[], kind: string, decode: Decode<T>): Promise<T[]> {
	const wanted = blocks.filter((block) => block.kind === kind);
	return Promise.all(wanted.map(async (block) => decode(await unpack(block.text))));
}

function decodeDiff(bytes: Uint8Array): DiffReport {
	const diff = JSON.parse(new TextDecoder().decode(bytes)) as DiffReport;
	const known = diff.schema === "plumb.diff/1" && Array.isArray(diff.list);
	if (!known) throw new Error("the comparison in it is of no known kind");
	return diff;
}

export async function decodeBlocks(blocks: readonly Block[]): Promise<Report> {
	const profiles = await each(blocks, "profile", async (bytes) => decodeInSteps(bytes, otherTasks));
	const [functions] = await each(blocks, "diff", decodeDiff);
	const [paths] = await each(blocks, "diff-paths", decodeDiff);
	await otherTasks();
	if (profiles.length === 0) throw new Error("there is no profile in it");
	return { profiles, diff: functions && paths && profiles.length === 2 ? { functions, paths } : null };
}

/** The blocks go out of the document when they are read: they would take memory for nothing. */
export function pageSource(page: Document): DataSource {
	return {
		async load() {
			if (typeof DecompressionStream === "undefined") throw new Error(tooOld);
			const elements = [...page.querySelectorAll<HTMLScriptElement>("script.plumb-block")];
			const blocks = elements.map((e) => ({ kind: e.dataset["kind"] ?? "", text: e.textContent ?? "" }));
			try {
				return await decodeBlocks(blocks);
			} catch (why) {
				const reason = why instanceof Error ? why.message : String(why);
				throw new Error(`This page is damaged or cut: ${reason}.`, { cause: why });
			} finally {
				for (const element of elements) element.remove();
			}
		},
	};
}
