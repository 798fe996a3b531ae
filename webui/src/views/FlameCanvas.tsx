// SPDX-License-Identifier: Apache-2.0
/* A flame graph of any tree, with tooltip, keyboard and a sentence for who does not see it. */

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Look, Scene } from "../canvas/flame";
import { createPanel, type Hit, type Panel, type PanelElements } from "../canvas/panel";
import type { SceneSource } from "../canvas/picture";
import type { Point } from "../canvas/pointer";
import type { Range, Shares } from "../canvas/range";
import { rowsOf } from "../canvas/steps";
import type { FlameTree } from "../canvas/tree";
import { Tip, type TipText } from "./Tip";

export interface PictureSlot {
	current: SceneSource | null;
}

interface Props {
	tree: FlameTree;
	look: Look;
	flipped: boolean;
	zoom: number;
	/** What is seen instead of `zoom`, and who keeps it; without, nobody does. */
	seen?: Shares | null;
	onSeen?: (seen: Shares | null) => void;
	selected: number;
	/** How many nodes of the selected function are before each node. */
	alike?: Uint32Array | null;
	/** What this picture is, for screen readers. */
	label: string;
	tip(hit: Hit): TipText;
	/** One sentence about a node, for screen readers. */
	sentence(node: number): string;
	onSelect(node: number): void;
	onZoom(node: number): void;
	/** A double click or Enter; without it they come nearer. */
	onOpen?: (node: number) => void;
	onMenu(node: number, at: Point): void;
	onRange?: (range: Range) => void;
	picture?: PictureSlot;
}

interface Hover {
	hit: Hit;
	at: Point;
}

function nothing(): void {
	/* nobody asked */
}

/** From a point in the canvas to one in the window. */
function inWindow(element: HTMLElement | null, point: Point): Point {
	const rect = element?.getBoundingClientRect();
	return { x: point.x + (rect?.left ?? 0), y: point.y + (rect?.top ?? 0) };
}

function elementsOf(scroller: HTMLElement): PanelElements {
	const sizer = scroller.firstElementChild as HTMLElement;
	const window = sizer.firstElementChild as HTMLElement;
	const [boxes, marks] = window.querySelectorAll("canvas");
	return { scroller, sizer, window, boxes, marks };
}

function usePanel(props: Props, setHover: (hover: Hover | null) => void): { current: HTMLDivElement | null } {
	const scroller = useRef<HTMLDivElement>(null);
	const panel = useRef<Panel | null>(null);
	const { tree, look, flipped, zoom, selected, onSelect, onZoom, onOpen, onMenu, onRange } = props;
	const input = {
		tree, rowCount: rowsOf(tree), look, flipped, zoom, selected, onSelect, onZoom, onMenu,
		opens: onOpen !== undefined,
		seen: props.seen ?? null,
		alike: props.alike ?? null,
		onSeen: props.onSeen ?? null,
		onOpen: onOpen ?? nothing,
		onRange: onRange ?? nothing,
		onHover: (hit: Hit | null, at: Point) => setHover(hit && { hit, at: inWindow(scroller.current, at) }),
	};
	useEffect(() => {
		if (!scroller.current) return undefined;
		const made = createPanel(elementsOf(scroller.current), input);
		panel.current = made;
		return () => made.destroy();
	}, []);
	useEffect(() => panel.current?.update(input));
	useEffect(() => {
		const { picture } = props;
		if (!picture || !panel.current) return undefined;
		const { scene } = panel.current;
		const source = (): readonly Scene[] => [scene()];
		picture.current = source;
		return () => {
			if (picture.current === source) picture.current = null;
		};
	}, [props.picture]);
	return scroller;
}

export function FlameCanvas(props: Props): JSX.Element {
	const [hover, setHover] = useState<Hover | null>(null);
	const [focused, setFocused] = useState(false);
	const scroller = usePanel(props, setHover);
	const { selected, tree } = props;
	/* A node can have very many callees to look through, and the pointer renders this often. */
	const sentence = useMemo(
		() => (focused && selected >= 0 ? props.sentence(selected) : ""), [focused, selected, tree],
	);
	useEffect(() => setHover(null), [tree]);
	return (
		<div class="flame">
			<div
				ref={scroller}
				class="flame-scroll"
				tabIndex={0}
				role="application"
				aria-label={props.label}
				aria-roledescription="flame graph"
				onFocus={() => setFocused(true)}
				onBlur={() => setFocused(false)}
			>
				<div class="flame-sizer">
					<div class="flame-window">
						<canvas aria-hidden="true" />
						<canvas aria-hidden="true" />
					</div>
				</div>
			</div>
			<p class="flame-sentence" aria-live="polite">
				{sentence}
			</p>
			{hover ? <Tip text={props.tip(hover.hit)} x={hover.at.x} y={hover.at.y} /> : null}
		</div>
	);
}
