// SPDX-License-Identifier: Apache-2.0
/* The view that is chosen. */

import type { JSX } from "preact";

import { hottestFunction } from "./Answer";
import { CallTreeView } from "./CallTreeView";
import { ChartView } from "./ChartView";
import { DiffView } from "./DiffView";
import { FlameView } from "./FlameView";
import { FunctionsView } from "./FunctionsView";
import { HereView } from "./HereView";
import { Nothing } from "./Nothing";
import type { Page } from "./page";
import { SandwichView } from "./SandwichView";
import { SourceView } from "./SourceView";
import { StatisticsView } from "./StatisticsView";

/** Of a function; if none is selected of the one that the reader would look at first. */
function Sandwich({ page }: { page: Page }): JSX.Element {
	if (page.state.selected !== null) return <SandwichView page={page} />;
	const fn = hottestFunction(page);
	if (fn < 0) return <Nothing page={page} text="No samples pass the filters." />;
	return <SandwichView page={{ ...page, state: { ...page.state, selected: fn } }} />;
}

export function ViewOf({ page }: { page: Page }): JSX.Element {
	switch (page.state.view) {
		case "flame":
			return page.shown.whole > 0 ? (
				<FlameView page={page} />
			) : (
				<Nothing page={page} text="No samples pass the filters." />
			);
		case "chart":
			return <ChartView page={page} />;
		case "sandwich":
			return <Sandwich page={page} />;
		case "functions":
			return <FunctionsView page={page} />;
		case "tree":
			return <CallTreeView page={page} />;
		case "source":
			return <SourceView page={page} />;
		case "statistics":
			return <StatisticsView page={page} />;
		case "here":
			return <HereView page={page} />;
		case "diff":
			return <DiffView page={page} />;
	}
}
