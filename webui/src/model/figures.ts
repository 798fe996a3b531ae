// SPDX-License-Identifier: Apache-2.0
// Figures of one thing: a function, a line, a node of a tree. Layer model; types.

export interface Figure {
	/** In the unit of the trees: nanoseconds or samples. */
	readonly value: number;
	readonly samples: number;
	readonly share: number;
	/** Of the share; 95 % confidence. */
	readonly halfWidth: number;
}

export interface Figures {
	readonly self: Figure;
	readonly total: Figure;
}
