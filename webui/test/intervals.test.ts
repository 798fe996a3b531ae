// SPDX-License-Identifier: Apache-2.0
// What src/base/stats.c gives for the same arguments, printed with 17 digits.
import assert from "node:assert/strict";
import { test } from "node:test";

import { erfc, normalQuantile, shareHalfWidth, tQuantile, wilsonHalfWidth } from "../src/model/intervals";

const normal: readonly (readonly [number, number])[] = [
	[0.0001, -3.7190164854556804], [0.02, -2.0537489106318234], [0.025, -1.9599639845400545],
	[0.3, -0.5244005127080408], [0.5, 0], [0.9, 1.2815515655446006], [0.975, 1.959963984540054],
	[0.999, 3.0902323061678136], [0.99999, 4.264890793923841],
];
/** p, degrees of freedom, t */
const student: readonly (readonly [number, number, number])[] = [
	[0.025, 1, -12.706204736174694], [0.9, 1, 3.077683537175255], [0.99999, 1, 31830.98860805194],
	[0.025, 2, -4.302652729749461], [0.9, 2, 1.8856180831641276], [0.99999, 2, 223.60344363454593],
	[0.025, 3, -3.1824463052837078], [0.9, 3, 1.6377443536962104], [0.99999, 3, 47.92772837600671],
	[0.025, 4.5, -2.6589123472044034], [0.9, 4.5, 1.5008853175085584], [0.99999, 4.5, 18.567279910716753],
	[0.025, 10, -2.228138851986274], [0.9, 10, 1.3721836411103352], [0.99999, 10, 7.5269540193436235],
	[0.025, 31, -2.039513446396408], [0.9, 31, 1.3094635494946467], [0.99999, 31, 5.024874407794808],
	[0.025, 63, -1.9983405425207403], [0.9, 63, 1.2951342937828838], [0.99999, 63, 4.612597011282],
	[0.025, 199, -1.971956544251796], [0.9, 199, 1.2858202092591855], [0.99999, 199, 4.3699259524683685],
	[0.025, 200, -1.971896223631609], [0.9, 200, 1.2857987939945954], [0.99999, 200, 4.36938954885039],
	[0.025, 1000, -1.9623390808264076], [0.9, 1000, 1.2823987214609245], [0.99999, 1000, 4.285437682652877],
];
/** hits, trials, half width */
const wilson: readonly (readonly [number, number, number])[] = [
	[0, 1, 0.3967253428113813], [0, 10, 0.1387663999314446], [0, 1000, 0.0019133792427775617],
	[0, 1000000, 1.9207220319724706e-06], [1, 1, 0.3967253428113813], [1, 10, 0.1931369068500828],
	[1, 1000, 0.0027330061136659283], [1, 1000000, 2.7441936137830353e-06], [5, 10, 0.263406909487436],
	[5, 1000, 0.004756709923025327], [5, 1000000, 4.784999856283593e-06], [500, 1000, 0.030930399631895818],
	[500, 1000000, 4.3857080037589305e-05], [999, 1000, 0.002733006113665929],
	[999, 1000000, 6.19471008262633e-05], [1000, 1000, 0.0019133792427775617],
	[1000, 1000000, 6.197803684426684e-05],
];
/** number of batches, half width: of `batches` below */
const shares: readonly (readonly [number, number])[] = [
	[1, 0.03991659500303738], [8, 0.003853136032742223], [15, 0.1689979503983318], [22, 0.0015641238056780579],
	[29, 0.09970484340858222], [36, 0.0013186170092336323], [43, 0.11876589165857696],
	[50, 0.0009941291488807296], [57, 0.08604908574142543], [64, 0.0008868218222437095],
];

function isNear(found: number, wanted: number, what: string): void {
	assert.ok(Math.abs(found - wanted) <= 1e-9 * Math.max(Math.abs(wanted), 1e-3), `${what}: ${found} not ${wanted}`);
}

function batches(count: number): { hit: number[]; all: number[] } {
	let x = 12345 + count;
	const next = () => (x = (Math.imul(x, 1664525) + 1013904223) >>> 0);
	const hit: number[] = [];
	const all: number[] = [];
	for (let i = 0; i < count; i++) {
		next();
		all.push((x >>> 24) % 9 === 0 ? 0 : (x >>> 20) % 1000);
		next();
		hit.push(((all[i]! * ((x >>> 16) % 1000)) / 1000) * (count % 2 ? 1 : 0.01));
	}
	return { hit, all };
}

test("quantiles of the normal distribution", () => {
	for (const [p, z] of normal) isNear(normalQuantile(p), z, `p ${p}`);
});

test("quantiles of Student's t", () => {
	for (const [p, df, t] of student) isNear(tQuantile(p, df), t, `p ${p}, df ${df}`);
});

test("Wilson's interval", () => {
	for (const [hits, n, half] of wilson) isNear(wilsonHalfWidth(hits, n), half, `${hits} of ${n}`);
	assert.equal(wilsonHalfWidth(0, 0), 0.5);
});

test("the share of batches", () => {
	for (const [count, half] of shares) {
		const { hit, all } = batches(count);
		isNear(shareHalfWidth(hit, all), half, `${count} batches`);
	}
});

test("erfc is right on both sides of where its formula changes", () => {
	isNear(erfc(0.5), 0.4795001221869535, "0.5");
	isNear(erfc(1.999999), 0.004677755648073953, "below 2");
	isNear(erfc(2.000001), 0.004677714314103242, "above 2");
	assert.ok(Math.abs(erfc(1.9999999999) - erfc(2.0000000001)) < 1e-11);
	isNear(erfc(-1), 1.8427007929497148, "-1");
});
