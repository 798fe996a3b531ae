// SPDX-License-Identifier: Apache-2.0
/* What a value of the views is: time, or a number of samples. */

import { count, time } from "../model/numbers";
import type { Page } from "./page";

export function isTime(page: Page): boolean {
	return page.state.unit === "time" && !page.profile.meta.counted;
}

export function valueText(page: Page, value: number): string {
	return isTime(page) ? time(value) : count(value);
}
