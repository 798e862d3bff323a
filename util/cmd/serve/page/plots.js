// SPDX-License-Identifier: BSD-3-Clause
// The plots of the page, by Chart.js: each has a function that takes an answer and draws it anew.
"use strict";

const dark = matchMedia("(prefers-color-scheme: dark)");
const light_colors = ["#0b62b3", "#c65d09", "#2f8132", "#8a3fb0", "#b3243c", "#00798c", "#7a6a00", "#5c5c5c"];
const dark_colors = ["#6db3f2", "#f2a65a", "#7fd084", "#cf9bea", "#f28b9b", "#5fd0de", "#dccb5a", "#b8b8b8"];
const charts = {};

function color(i) {
	const all = dark.matches ? dark_colors : light_colors;
	return all[i % all.length];
}

function style(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// 1234567 as 1.23 MB, or as 1.23 M
function short(v, bytes) {
	const units = bytes ? ["B", "kB", "MB", "GB", "TB", "PB"] : ["", "k", "M", "G", "T", "P"];
	let i = 0;
	while (Math.abs(v) >= 1000 && i < units.length - 1) {
		v /= 1000;
		i++;
	}
	return (Number.isInteger(v) ? v : v.toPrecision(3)) + (units[i] ? " " + units[i] : "");
}

function duration(us) {
	return us < 1000 ? Math.round(us) + " µs" : us < 1e6 ? (us / 1e3).toPrecision(3) + " ms" : (us / 1e6).toPrecision(3) + " s";
}

// Columns of an answer by their name, a row at a time.
function rows(answer) {
	const names = answer.columns.map(c => c.text);
	return answer.rows.map(r => Object.fromEntries(r.map((v, i) => [names[i], v])));
}

function axis(title, format, more) {
	return Object.assign({
		title: {display: true, text: title, color: style("--soft")},
		ticks: {color: style("--soft"), callback: format, maxRotation: 0, autoSkipPadding: 14},
		grid: {color: style("--line")},
	}, more);
}

function draw(id, type, data, scales, tooltip, legend) {
	const options = {
		animation: false, responsive: true, maintainAspectRatio: false, normalized: true,
		interaction: {mode: "nearest", intersect: false}, scales,
		plugins: {
			legend: {display: legend, position: "bottom", labels: {color: style("--text"), boxWidth: type === "line" ? 26 : 10, usePointStyle: true, pointStyle: type === "line" ? "line" : "rect"}},
			tooltip: {callbacks: tooltip},
		},
	};
	const old = charts[id];
	if (old) {
		const hidden = new Set(old.data.datasets.filter((d, i) => !old.isDatasetVisible(i)).map(d => d.label));
		for (const d of data.datasets)
			d.hidden = hidden.has(d.label);
		old.data = data;
		old.options = options;
		old.update();
		return;
	}
	charts[id] = new Chart(document.getElementById(id), {type, data, options});
}

function group(list, key) {
	const found = new Map();
	for (const r of list) {
		if (!found.has(key(r)))
			found.set(key(r), []);
		found.get(key(r)).push(r);
	}
	return found;
}

// Lines of operations, and of bytes (dashed) at the other axis; spans without any are zeros.
function plot_over_time(answer, seconds, begin) {
	const datasets = [];
	const all = rows(answer);
	const times = all.map(r => r.time_us);
	const first = Math.min(...times), last = Math.max(...times), step = seconds * 1e6;
	let i = 0;
	for (const [label, list] of group(all, r => r.module + " " + r.op)) {
		const at = new Map(list.map(r => [r.time_us, r]));
		const spans = [];
		for (let t = first; t <= last; t += step)
			spans.push({x: (t - begin) / 1e6, r: at.get(t)});
		const line = {borderColor: color(i), backgroundColor: color(i), borderWidth: 1.5, pointRadius: spans.length > 60 ? 0 : 2};
		datasets.push({...line, label, yAxisID: "y", data: spans.map(s => ({x: s.x, y: s.r ? s.r.operations : 0}))});
		if (list.some(r => r.bytes > 0))
			datasets.push({...line, label: label + " bytes", yAxisID: "y2", borderDash: [5, 4],
				data: spans.map(s => ({x: s.x, y: s.r ? s.r.bytes : 0}))});
		i++;
	}
	draw("over_time", "line", {datasets}, {
		x: axis("seconds since the job's start", v => +v.toFixed(3), {type: "linear", bounds: "data"}),
		y: axis("operations in " + seconds + " s", v => short(v), {beginAtZero: true}),
		y2: axis("bytes in " + seconds + " s", v => short(v, true), {beginAtZero: true, position: "right", grid: {display: false}}),
	}, {label: c => c.dataset.label + ": " + short(c.parsed.y, c.dataset.yAxisID === "y2")}, true);
}

// A square for each rank and span; its depth of colour is the part of the most bytes.
function plot_heat(answer, seconds, begin) {
	const list = rows(answer);
	const most = Math.max(1, ...list.map(r => r.bytes));
	const ranks = new Set(list.map(r => r.rank)).size, spans = new Set(list.map(r => r.time_us)).size;
	const box = document.getElementById("heat").parentElement;
	const width = Math.max(2, Math.min(40, (box.clientWidth - 90) / (spans + 1))), height = Math.max(2, Math.min(24, 200 / (ranks + 1)));
	const [r, g, b] = dark.matches ? [109, 179, 242] : [11, 98, 179];
	const points = list.map(p => {
		const c = document.createElement("canvas");
		c.width = Math.max(2, Math.floor(width));
		c.height = Math.max(2, Math.floor(height));
		const d = c.getContext("2d");
		d.fillStyle = `rgba(${r},${g},${b},${0.12 + 0.88 * Math.sqrt(p.bytes / most)})`;
		d.fillRect(0, 0, c.width, c.height);
		return c;
	});
	draw("heat", "scatter", {datasets: [{
		label: "bytes", pointStyle: points, pointRadius: 4, pointHoverRadius: 4,
		data: list.map(p => ({x: (p.time_us - begin) / 1e6 + seconds / 2, y: p.rank, p})),
	}]}, {
		x: axis("seconds since the job's start", v => v, {type: "linear", offset: true}),
		y: axis("rank", v => Number.isInteger(v) ? v : "", {offset: true, grid: {display: false}}),
	}, {label: c => `rank ${c.raw.p.rank}, ${short(c.raw.p.bytes, true)} in ${c.raw.p.operations} operations`}, false);
}

// Points of the mean; the spread is told where one points.
function plot_durations(answer) {
	const datasets = [];
	let i = 0;
	for (const [label, list] of group(rows(answer), r => r.module + " " + r.op)) {
		const mean = {label, pointRadius: 3, showLine: false, borderColor: color(i), backgroundColor: color(i),
			data: list.map(r => ({x: r.rank, y: r.mean_us, r}))};
		datasets.push(mean);
		i++;
	}
	draw("durations", "scatter", {datasets}, {
		x: axis("rank", v => Number.isInteger(v) ? v : "", {type: "linear", offset: true}),
		y: axis("mean duration", v => duration(v), {beginAtZero: true}),
	}, {label: c => `${c.dataset.label}, rank ${c.raw.x}: ${duration(c.raw.y)}, spread ${duration(c.raw.r.spread_us)}, ` +
		`${short(c.raw.r.operations)} operations`}, true);
}

function plot_nodes(answer) {
	const all = rows(answer);
	const nodes = [...new Set(all.map(r => r.node))];
	const datasets = [];
	let i = 0;
	for (const [label, list] of group(all, r => r.module + " " + r.op)) {
		const of = new Map(list.map(r => [r.node, r.operations]));
		datasets.push({label, backgroundColor: color(i++), data: nodes.map(n => of.get(n) || 0)});
	}
	draw("nodes", "bar", {labels: nodes, datasets}, {
		x: axis("node", function (v) { return this.getLabelForValue(v); }, {stacked: true, grid: {display: false}}),
		y: axis("operations", v => short(v), {stacked: true, beginAtZero: true}),
	}, {label: c => c.dataset.label + ": " + short(c.raw)}, true);
}

function put_slowest(answer, begin) {
	const columns = [["duration", r => duration(r.dur_us)], ["ended after", r => ((r.time_us - begin) / 1e6).toFixed(3) + " s"],
		["rank", r => r.rank], ["node", r => r.node], ["operation", r => r.module + " " + r.op],
		["offset", r => r.off ?? ""], ["length", r => r.len === null ? "" : short(r.len, true)], ["file", r => r.path ?? "not known"]];
	const right = new Set(["duration", "ended after", "rank", "offset", "length"]);
	const line = (cells, tag) => {
		const tr = document.createElement("tr");
		cells.forEach((text, i) => {
			const td = document.createElement(tag);
			td.textContent = text;
			td.className = right.has(columns[i][0]) ? "number" : "";
			tr.append(td);
		});
		return tr;
	};
	const table = document.getElementById("slowest");
	table.tHead.replaceChildren(line(columns.map(c => c[0]), "th"));
	table.tBodies[0].replaceChildren(...rows(answer).map(r => line(columns.map(c => c[1](r)), "td")));
}
