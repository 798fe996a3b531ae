// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeProfile } from "../src/data/decode";
import { State as Bit } from "../src/data/profile";
import type { Blame } from "../src/model/blame";
import { noFilter, type Filter } from "../src/model/filter";
import { createDerived } from "../src/state/derived";
import { initialState } from "../src/state/state";
import { encodeProfile, type PlainProfile, thread } from "./encode";

const waits = Bit.wantsGil;

const plain: PlainProfile = {
	meta: { threads: [thread(), thread({ tid: 11, name: "worker" })] },
	samples: [
		{ stack: "main:1;crunch:2", state: Bit.onCpu | Bit.hasGil, samples: 10 },
		{ stack: "main:1;pack:3", state: Bit.onCpu | Bit.hasGil, samples: 10 },
		{ stack: "main:1;ask:4", state: waits, samples: 6, heldBy: "crunch" },
		{ stack: "main:1;ask:4", state: waits, samples: 1, heldBy: "" },
		{ stack: "serve:1;ask:4", state: waits, thread: 1, samples: 1, heldBy: "crunch" },
		{ stack: "serve:1;ask:4", state: waits, thread: 1, samples: 4, heldBy: "pack" },
	],
};

function blame(of: PlainProfile, filter: Partial<Filter> = {}): { words: string[] | null; blame: Blame | null } {
	const profile = decodeProfile(encodeProfile(of));
	const shown = createDerived({ profiles: [profile], diff: null })({
		...initialState, filter: { ...noFilter, ...filter },
	});
	const found = shown.blame();
	const name = (fn: number) => profile.strings[profile.functions.name[fn]!];
	const rows = found?.holders.map(({ fn, held }) => `${name(fn)} ${held.samples}`);
	return { blame: found, words: found && rows ? [...rows, `? ${found.unseen.samples}`] : null };
}

test("who held the GIL, by the time that was waited for it", () => {
	const { blame: found, words } = blame(plain);
	assert.deepEqual(words, ["crunch 7", "pack 4", "? 1"]);
	assert.equal(found?.waitedNs, 12e6);
	assert.equal(found?.holders[0]?.held.share, 7 / 12);
	assert.ok((found?.holders[0]?.held.halfWidth ?? 0) > 0);
});

test("filters choose who waited, not who held it", () => {
	assert.deepEqual(blame(plain, { threads: [1] }).words, ["pack 4", "crunch 1", "? 0"]);
	assert.equal(blame(plain, { states: 4 }).words, null);
});

test("more holders than one pass counts are all there", () => {
	const many = Array.from({ length: 70 }, (_, i) => ({ stack: `f${i}:1`, samples: 1 }));
	const asks = many.map((_, i) => ({ stack: "ask:1", state: waits, samples: i + 1, heldBy: `f${i}` }));
	const { words } = blame({ samples: [...many, ...asks] });
	assert.equal(words?.length, 71);
	assert.deepEqual(words.slice(0, 2), ["f69 70", "f68 69"]);
});

test("where nobody waited for it there is nothing to tell", () => {
	assert.equal(blame({ samples: [{ stack: "main:1" }] }).words, null);
});
