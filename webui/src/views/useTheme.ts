// SPDX-License-Identifier: Apache-2.0
/* Light or dark: what was chosen, else what the system says. */

import { useEffect, useState } from "preact/hooks";

import type { State } from "../state/state";

const darkSystem = "(prefers-color-scheme: dark)";

export function useTheme(theme: State["theme"]): boolean {
	const [system, setSystem] = useState(() => matchMedia(darkSystem).matches);
	useEffect(() => {
		const query = matchMedia(darkSystem);
		const look = (): void => setSystem(query.matches);
		query.addEventListener("change", look);
		return () => query.removeEventListener("change", look);
	}, []);
	const dark = theme === "system" ? system : theme === "dark";
	document.documentElement.dataset["theme"] = dark ? "dark" : "light";
	return dark;
}
