/* SPDX-License-Identifier: Apache-2.0 */
/* What a flame graph does in a browser: zoom, search, turn over, and keep that in the fragment of its address.
 * Part of every SVG file; ES5, no eval, no handlers in attributes, no names of the program but as text nodes. */
(function () {
"use strict";
var svg = document.documentElement, LEFT = 10, WIDTH = 1180, CHAR = 7.25, boxes = [], roots, low = Infinity, high = 0;
var whole = { x: LEFT, width: WIDTH, y: Infinity };
var state = { zoom: 0, search: "", flipped: false };

function part(g, tag) { return g.getElementsByTagName(tag)[0]; }
function number(node, name) { return parseFloat(node.getAttribute(name)); }
function id(name) { return document.getElementById(name); }

function read() {
	var nodes = id("frames").childNodes, i, rect, title;
	for (i = 0; i < nodes.length; i++) {
		if (nodes[i].nodeType !== 1) continue;
		rect = part(nodes[i], "rect");
		title = part(nodes[i], "title").textContent;
		nodes[i].box = boxes.length;
		boxes.push({
			g: nodes[i], rect: rect, text: part(nodes[i], "text"), title: title, name: title.split("\n")[0],
			strip: nodes[i].getAttribute("class") === "s", fill: rect.getAttribute("fill"),
			x: number(rect, "x"), width: number(rect, "width"), y: number(rect, "y")
		});
		low = Math.min(low, boxes[boxes.length - 1].y);
		high = Math.max(high, boxes[boxes.length - 1].y);
	}
	roots = boxes.filter(function (box) { return box.y === high; });
}

function matcher() {
	if (!state.search) return null;
	var flags = state.search === state.search.toLowerCase() ? "i" : "";
	try {
		return new RegExp(state.search, flags);
	} catch (e) { /* no regular expression: the text itself */
		return new RegExp(state.search.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), flags);
	}
}

function label(box, width) {
	var room = Math.floor((width - 6) / CHAR);
	var name = box.name.replace(/ \([^(]*\)$/, ""); /* the place is in the tooltip */
	if (box.strip || room < 3) return "";
	return name.length <= room ? name : name.slice(0, room - 1) + "\u2026";
}

/* Where a box lies in the picture when `to` fills its width; null: nowhere. */
function place(box, to) {
	if (to === whole) return { x: box.x, width: box.width, faded: false };
	var end = to.x + to.width, inside = box.x >= to.x - 0.0005 && box.x + box.width <= end + 0.0005;
	if (box === to) return { x: LEFT, width: WIDTH, faded: false };
	if (inside && box.y <= to.y)
		return { x: LEFT + (box.x - to.x) * WIDTH / to.width, width: box.width * WIDTH / to.width, faded: false };
	if (box.y > to.y && box.x <= to.x + 0.0005 && box.x + box.width >= end - 0.0005)
		return { x: LEFT, width: WIDTH, faded: true };
	return null;
}

function share(ranges) {
	var sum = 0, end = 0;
	ranges.sort(function (a, b) { return a.x - b.x; });
	ranges.forEach(function (r) {
		var from = Math.max(r.x, end), to = r.x + r.width;
		if (to > from) sum += to - from;
		end = Math.max(end, to);
	});
	return boxes[0].width ? 100 * sum / boxes[0].width : 0;
}

/* Of the first root; what is above another is told beside it, by the same measure. */
function matched(found) {
	return "Matched: " + roots.map(function (root, i) {
		var above = found.filter(function (box) { return box.x >= root.x - 0.0005 && box.x < root.x + root.width; });
		return share(above).toFixed(1) + " %" + (i ? " " + root.name : "");
	}).join(" + ");
}

function draw() {
	var match = matcher(), found = [], to = state.zoom ? boxes[state.zoom] : whole;
	boxes.forEach(function (box) {
		var hit = match && box.y < high && !box.strip && match.test(box.name), at = place(box, to), y;
		if (hit) found.push(box);
		box.rect.setAttribute("fill", hit ? "#c800c8" : box.fill);
		box.text.setAttribute("fill", hit ? "#fff" : "#000");
		if (!at) {
			box.g.setAttribute("display", "none");
			return;
		}
		y = state.flipped ? low + high - box.y : box.y;
		box.g.removeAttribute("display");
		box.g.setAttribute("opacity", at.faded ? "0.5" : "1");
		box.rect.setAttribute("x", at.x);
		box.rect.setAttribute("width", at.width);
		box.rect.setAttribute("y", y);
		box.text.setAttribute("x", at.x + 3);
		box.text.setAttribute("y", y + 12);
		box.text.textContent = label(box, at.width);
	});
	id("matched").textContent = match ? matched(found) : " ";
}

function fragment() {
	var parts = [];
	if (state.zoom) parts.push("z=" + state.zoom);
	if (state.search) parts.push("s=" + encodeURIComponent(state.search));
	if (state.flipped) parts.push("i=1");
	return parts.join("&");
}

function change(values) {
	Object.keys(values).forEach(function (key) { state[key] = values[key]; });
	draw();
	try { /* not in a sandboxed frame */
		history.replaceState(null, "", "#" + fragment());
	} catch (e) { }
}

function restore() {
	var given = { z: "0", s: "", i: "" };
	location.hash.slice(1).split("&").forEach(function (pair) {
		var at = pair.indexOf("=");
		if (at > 0) given[pair.slice(0, at)] = pair.slice(at + 1);
	});
	state.zoom = parseInt(given.z, 10) || 0;
	if (!boxes[state.zoom] || boxes[state.zoom].strip) state.zoom = 0;
	try { state.search = decodeURIComponent(given.s); } catch (e) { state.search = ""; }
	state.flipped = given.i === "1";
	draw();
}

function search() {
	var term = prompt("Search: a regular expression; upper and lower case are told apart if it has upper case", state.search);
	if (term !== null) change({ search: term });
}

function box_of(node) {
	while (node && node !== svg) {
		if (node.box !== undefined) return node;
		node = node.parentNode;
	}
	return null;
}

function button(name, action) {
	var g = id(name);
	g.removeAttribute("display");
	g.addEventListener("click", action);
	g.addEventListener("keydown", function (e) { if (e.key === "Enter" || e.key === " ") action(); });
}

function flip() { change({ flipped: !state.flipped }); }
function reset() { change({ zoom: 0, search: "" }); }

read();
if (!boxes.length) return;
button("reset", reset);
button("flip", flip);
button("search", search);
id("frames").addEventListener("click", function (e) {
	var g = box_of(e.target);
	if (g && !boxes[g.box].strip) change({ zoom: g.box });
});
id("frames").addEventListener("mouseover", function (e) {
	var g = box_of(e.target);
	if (g) id("details").textContent = boxes[g.box].title.split("\n").slice(0, 2).join(": ");
});
id("frames").addEventListener("mouseout", function () { id("details").textContent = " "; });
window.addEventListener("keydown", function (e) {
	if (e.key === "F3" || ((e.ctrlKey || e.metaKey) && e.key === "f") || (e.key === "/" && !e.ctrlKey)) {
		e.preventDefault();
		search();
	} else if (e.key === "Escape") {
		reset();
	} else if (e.key === "i" && !e.ctrlKey && !e.metaKey && !e.altKey) {
		flip();
	}
});
window.addEventListener("hashchange", restore);
restore();
})();
