// SPDX-License-Identifier: Apache-2.0
/* What was profiled, how, and where the time went. */

import type { JSX } from "preact";

import type { Meta } from "../data/profile";
import { display } from "../model/names";
import { count, rate, time } from "../model/numbers";
import type { State } from "../state/state";
import { Answer } from "./Answer";
import type { Page } from "./page";
import { brief } from "./text";
import { trustWords } from "./trust";

const themes: Readonly<Record<State["theme"], State["theme"]>> = { system: "light", light: "dark", dark: "system" };
const themeNames: Readonly<Record<State["theme"], string>> = { system: "Auto", light: "Light", dark: "Dark" };
const modes: Readonly<Record<Meta["mode"], string>> = {
	wall: "wall clock",
	cpu: "CPU time",
	gil: "holders of the GIL only",
};

/** "2026-11-22 10:07:02 UTC" */
function when(start: string | null): string | null {
	const found = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)/.exec(start ?? "");
	return found ? `${found[1]} ${found[2]} UTC` : null;
}

function programName(meta: Meta): string {
	const name = meta.processes[0]?.name ?? "";
	if (meta.processes.length < 2) return name === "" ? meta.command || `a profile of ${meta.engine || "plumb"}` : name;
	return `${name} and ${meta.processes.length - 1} more`;
}

function pythons(meta: Meta): string | null {
	const all = [...new Set(meta.processes.map((process) => process.python).filter((python) => python !== ""))];
	return all.length === 0 ? null : `CPython ${all.slice(0, 3).join(", ")}`;
}

function samplesWord(n: number): string {
	return n === 1 ? "1 sample" : `${count(n)} samples`;
}

function durationWords({ profile: { meta }, shown: { range } }: Page): string | null {
	if (range) return `${time(Math.min(range[1], meta.duration_ns) - range[0])} of ${time(meta.duration_ns)}`;
	return meta.duration_ns > 0 ? time(meta.duration_ns) : null;
}

function facts(page: Page): (string | null)[] {
	const { meta } = page.profile;
	const asked = meta.period_ns > 0 ? ` at ${rate(1e9 / meta.period_ns)}` : "";
	return [
		durationWords(page),
		`${samplesWord(page.shown.samples)}${asked}`,
		meta.imported ? null : modes[meta.mode],
		pythons(meta),
		meta.host === "" ? null : `host ${brief(meta.host, 60)}`,
		when(meta.start),
	];
}

/** Which program, how much of it, when. */
export function captionOf(page: Page): string {
	const said = [programName(page.profile.meta), ...facts(page)];
	return said.filter((fact) => fact !== null).map((fact) => display(fact)).join(" · ");
}

function ProfileSwitch({ page }: { page: Page }): JSX.Element | null {
	if (page.report.profiles.length < 2) return null;
	const now = page.report.profiles.indexOf(page.profile);
	return (
		<div class="switch" role="group" aria-label="Recording">
			{["Before", "After"].map((text, i) => (
				<button key={text} type="button" aria-pressed={i === now} onClick={() => page.change({ profile: i })}>
					{text}
				</button>
			))}
		</div>
	);
}

/** Below the answer, in one line; the rest by a click. */
function Trust({ words }: { words: readonly string[] }): JSX.Element | null {
	if (words.length === 0) return null;
	return (
		<details class="warn trust">
			<summary>{words.join(" ")}</summary>
		</details>
	);
}

export function Header({ page, onHelp }: { page: Page; onHelp: () => void }): JSX.Element {
	const { meta } = page.profile;
	const { theme } = page.state;
	return (
		<header class="head">
			<div class="head-title">
				<h1 class="name cut">{brief(programName(meta), 120)}</h1>
				<span class="command mono cut name" title={brief(meta.command, 2000)}>
					{brief(meta.command, 300)}
				</span>
			</div>
			<div class="head-tools">
				<ProfileSwitch page={page} />
				<button
					type="button"
					class="quiet"
					title="Colours: like the system, light, dark"
					aria-label={`Colours: ${themeNames[theme]}`}
					onClick={() => page.change({ theme: themes[theme] })}
				>
					◐ {themeNames[theme]}
				</button>
				<button type="button" class="quiet" title="Help (?)" onClick={onHelp}>
					? Help
				</button>
			</div>
			<ul class="head-facts">
				{facts(page)
					.filter((fact) => fact !== null)
					.map((fact, i) => (
						<li key={i}>{fact}</li>
					))}
			</ul>
			<Answer page={page} />
			<Trust words={trustWords(meta)} />
		</header>
	);
}
