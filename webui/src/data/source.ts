// SPDX-License-Identifier: Apache-2.0
// Where data comes from: the page itself now, a server later. Layer data.
import type { Report } from "./profile";

export interface DataSource {
	/** Rejects with an Error whose message is a sentence for the reader. */
	load(): Promise<Report>;
}
