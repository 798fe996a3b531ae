// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeProfile } from "../src/data/decode";
import { labelsOf } from "../src/model/labels";
import { createDerived } from "../src/state/derived";
import { initialState } from "../src/state/state";
import { fromHash, toHash } from "../src/state/url";
import { encodeProfile } from "./encode";

const route = (value: string) => ({ name: "route", value });
const user = { name: "user", value: "3" };
/* Functions are numbered as they come: 1 is main. */
const profile = decodeProfile(encodeProfile({
	meta: {
		tags: [
			{ function: 0, labels: [route("/a")] },
			{ function: 2, labels: [route("/b"), user] },
			{ function: 3, labels: [route("/a"), user] },
		],
	},
	samples: [
		{ stack: "[route=/a]:0;main:1", samples: 1 },
		{ stack: "[route=/b, user=3]:0;main:1", samples: 2 },
		{ stack: "[route=/a, user=3]:0;main:1", samples: 4 },
		{ stack: "main:1", samples: 8 },
		{ stack: [], samples: 16 },
	],
}));

function samplesWith(...labels: string[]): number {
	const all = labelsOf(profile.meta);
	const ids = labels.map((text) => all.findIndex(({ label }) => `${label.name}=${label.value}` === text));
	assert.ok(ids.every((id) => id >= 0));
	const state = { ...initialState, filter: { ...initialState.filter, labels: ids } };
	return createDerived({ profiles: [profile], diff: null })(state).samples;
}

test("labels are chosen as the command line does: one of each name", () => {
	assert.equal(samplesWith(), 31);
	assert.equal(samplesWith("route=/a"), 5);
	assert.equal(samplesWith("user=3"), 6);
	assert.equal(samplesWith("route=/a", "route=/b"), 7);
	assert.equal(samplesWith("route=/a", "user=3"), 4);
	assert.equal(samplesWith("route=/a", "route=/b", "user=3"), 6);
});

test("labels are in the link; one that there is not is left out", () => {
	const report = { profiles: [profile], diff: null };
	const state = { ...initialState, filter: { ...initialState.filter, labels: [0, 2] } };
	assert.deepEqual(fromHash(toHash(state), report).filter.labels, [0, 2]);
	assert.deepEqual(fromHash("v=flame&tg=1.77", report).filter.labels, [1]);
});
