// SPDX-License-Identifier: BSD-3-Clause
// The page of one log, from the JSON that the program has put into it.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const summary = data.summary;

function first_things() {
	const {job, time, modules, ledger} = summary, all = time.read + time.write + time.metadata + time.streams;
	const below = modules.filter(m => m.name !== "MPI-IO"), sum = key => below.reduce((n, m) => n + m[key], 0);
	const list = [["run time", seconds(job.run_time)], ["I/O of the slowest rank", seconds(time.slowest_rank)],
		["of the run time", percent(time.slowest_rank, job.run_time)], ["read", bytes(sum("bytes_read"))], ["written", bytes(sum("bytes_written"))],
		["recorded", ledger ? ledger.complete ? "complete" : "NOT complete" : "unknown"]];
	const kinds = [["read", "reading", time.read], ["write", "writing", time.write], ["meta", "metadata", time.metadata], ["streams", "streams", time.streams]];
	const parts = [cards(list)];
	if (all > 0)
		parts.push(element("h3", {}, "I/O time of all ranks"),
			element("div", {class: "stack", role: "img", "aria-label": kinds.map(k => k[1] + " " + percent(k[2], all)).join(", ")},
				...kinds.map(k => element("span", {class: k[0], style: `width:${100 * k[2] / all}%`}))),
			element("div", {class: "key"}, ...kinds.map(k => element("span", {}, element("i", {class: k[0]}), `${k[1]} ${seconds(k[2])} (${percent(k[2], all)})`))));
	if (summary.slowest_file)
		parts.push(element("p", {}, "Slowest file: ", name_of(summary.slowest_file), ", " + seconds(summary.slowest_file.seconds) + " of all ranks' time"));
	section("What matters", "", ...parts);
}

function findings() {
	const list = summary.findings.map(finding);
	section("Findings", list.length ? "Rules that this log breaks, most severe first, with what to do." : "No rule is broken.", ...list);
}

async function ready(grid, type) {
	for (const level of grid.levels) {
		const cells = await unpack(level.cells, type), n = grid.rows * level.columns;
		level.planes = Array.from({length: cells.length / n}, (_, i) => cells.subarray(i * n, (i + 1) * n));
		level.ready = true;
	}
}

function heatmaps() {
	const sources = {heatmap: "From the log's heatmaps.", dxt: "From single operations.",
		records: "The log has no heatmap: each file's bytes are spread evenly between its first and last operation."};
	for (const grid of data.grids) {
		const choice = element("select", {"aria-label": "what is shown"}, ...["read and written", "read", "written"].map(t => element("option", {}, t)));
		const plot = new Grid(grid, {label: `${grid.layer}: bytes by rank and time`,
			value: (l, i) => choice.selectedIndex === 0 ? l.planes[0][i] + l.planes[1][i] : l.planes[choice.selectedIndex - 1][i],
			text: (l, i) => "read " + bytes(Math.round(l.planes[0][i])) + "\nwritten " + bytes(Math.round(l.planes[1][i]))});
		choice.onchange = () => plot.draw();
		plot.tools.append(choice);
		const numbers = element("details", {}, element("summary", {}, "numbers"));
		section(grid.layer + " over time", sources[grid.source] + " Bytes by rank (down) and time (across); sums at the edges. Drag to zoom, double-click for the whole run.",
			plot.tools, plot.box, numbers);
		ready(grid, Float32Array).then(() => {
			plot.draw();
			const level = grid.levels[0], width = grid.span / level.columns;
			const sum = (p, c) => { let n = 0; for (let r = 0; r < grid.rows; r++) n += level.planes[p][r * level.columns + c]; return Math.round(n); };
			numbers.append(table({title: grid.layer + " over time", left: 0, columns: [["from", "seconds"], ["read", "bytes"], ["written", "bytes"]],
				rows: Array.from({length: level.columns}, (_, c) => [c * width, sum(0, c), sum(1, c)]).filter(r => r[1] || r[2])}));
		});
	}
}

function timelines() {
	for (const grid of data.timelines) {
		const numbers = element("details", {}, element("summary", {}, "numbers"));
		const plot = new Grid(grid, {label: `${grid.layer}: operations by rank and time`, value: (l, i) => steps[l.planes[0][i]],
			text: (l, i) => l.planes[0][i] ? "about " + count(Math.round(steps[l.planes[0][i]])) + " operations\nof " + seconds(steps[l.planes[1][i]] / 1e9) +
				" to " + seconds(steps[l.planes[2][i]] / 1e9) : "none"});
		section(grid.layer + ": single operations", "How many operations begin in a span of time, and their shortest and longest duration (within 9 %).", plot.tools, plot.box, numbers);
		ready(grid, Uint8Array).then(() => {
			plot.draw();
			const level = grid.levels[0], [operations, least, most] = level.planes, rows = [];
			for (let c = 0; c < level.columns; c++) {
				const cells = Array.from({length: grid.rows}, (_, r) => r * level.columns + c).filter(i => operations[i]);
				if (cells.length)
					rows.push([c * grid.span / level.columns, cells.reduce((n, i) => n + Math.round(steps[operations[i]]), 0),
						Math.min(...cells.map(i => steps[least[i]])) / 1e9, Math.max(...cells.map(i => steps[most[i]])) / 1e9]);
			}
			numbers.append(table({title: grid.layer + ": single operations", left: 0, rows,
				columns: [["from", "seconds"], ["operations, about", "count"], ["shortest", "seconds"], ["longest", "seconds"]]}));
		});
	}
}

function bar_section(title, says, head, lines) {
	section(title, says, bars(title, head, lines));
}

function modules() {
	bar_section("Cost by module", "Seconds of the slowest rank in files of its own, plus those of the slowest rank in each shared file, and what was moved.",
		["module", "seconds", "read", "written", "reads", "writes", "files"],
		summary.modules.map(m => ({name: m.name, values: [{value: m.seconds, class: "meta", text: seconds(m.seconds)},
			{value: 0, class: "read", text: bytes(m.bytes_read)}, {value: 0, class: "write", text: bytes(m.bytes_written)},
			{value: 0, class: "", text: count(m.reads)}, {value: 0, class: "", text: count(m.writes)}, {value: 0, class: "", text: count(m.files)}]})));
	const names = ["to 100 B", "to 1 KiB", "to 10 KiB", "to 100 KiB", "to 1 MiB", "to 4 MiB", "to 10 MiB", "to 100 MiB", "to 1 GiB", "more"];
	for (const m of summary.modules)
		if (m.read_sizes && m.reads + m.writes > 0)
			bar_section(m.name + ": access sizes", "Number of reads and writes by their size.", ["size", "reads", "writes"], names.map((name, i) => ({name, values:
				[{value: Math.max(0, m.read_sizes[i]), class: "read", text: count(Math.max(0, m.read_sizes[i]))},
					{value: Math.max(0, m.write_sizes[i]), class: "write", text: count(Math.max(0, m.write_sizes[i]))}]})));
}

// The value of a counter over all records; 0: the log does not have it.
function counter(module, name) {
	const rows = data.tables.find(t => t.id === "counters_" + module)?.rows ?? [];
	return Math.max(0, Number(rows.find(r => r[0] === module + "_" + name)?.[1] ?? 0));
}

function patterns() {
	const of = (value, kind, all) => ({value, class: kind, text: count(value) + (all > 0 ? " (" + percent(value, all) + ")" : "")});
	const reads = counter("POSIX", "READS"), writes = counter("POSIX", "WRITES");
	const line = (name, r, w) => ({name, values: [of(Math.max(0, r), "read", reads), of(Math.max(0, w), "write", writes)]});
	const [seq, consec] = ["SEQ", "CONSEC"].map(k => [counter("POSIX", k + "_READS"), counter("POSIX", k + "_WRITES")]);
	if (reads + writes > 0)
		bar_section("POSIX: order of accesses", "Consecutive: at the end of the one before. Ahead: further on. Others begin before that end, or are a file's first.",
			["order", "reads", "writes"], [line("consecutive", consec[0], consec[1]), line("ahead", seq[0] - consec[0], seq[1] - consec[1]),
				line("other", reads - seq[0], writes - seq[1])]);
	for (const module of ["POSIX", "MPIIO"]) {
		const common = [1, 2, 3, 4].map(i => [counter(module, `ACCESS${i}_ACCESS`), counter(module, `ACCESS${i}_COUNT`)]).filter(a => a[1] > 0);
		if (common.length)
			bar_section(module + ": most common access sizes", "As far as each record lists them: four sizes at most.", ["size", "accesses"],
				common.map(a => ({name: bytes(a[0]), values: [of(a[1], "meta", 0)]})));
	}
}

function cache() {
	const c = summary.cache;
	if (!c)
		return;
	const known = c.bytes_read - c.unknown_bytes_read, hit = Math.max(0, known - c.bytes_fetched - c.direct_bytes_read);
	const unknown = c.unknown_bytes_read > 0 ? ` Not known of ${bytes(c.unknown_bytes_read)} in files with io_uring, libaio or splice.` : "";
	const line = (name, value, kind, text) => ({name, values: [{value, class: kind, text: text ?? bytes(value)}]});
	bar_section("Page cache", `${percent(hit, known)} of the bytes that system calls read came from the page cache. Read-ahead fetches more than is read.${unknown}`,
		["", "bytes"], [line("read from the page cache", hit, "read"),
			line("fetched by reads", c.bytes_fetched, "read", `${bytes(c.bytes_fetched)} in ${seconds(c.fetch_time)}`),
			line("read with O_DIRECT", c.direct_bytes_read, "read"), line("written with O_DIRECT", c.direct_bytes_written, "write"),
			line("made dirty by writes", c.bytes_dirtied, "write", bytes(c.bytes_dirtied) + (c.throttled_time > 0 ? `, held back for ${seconds(c.throttled_time)}` : "")),
			line("fetched by page faults", c.bytes_faulted, "meta", `${bytes(c.bytes_faulted)} in ${count(c.page_faults)} faults`)]);
}

function layers() {
	const line = (name, module) => ({name, values: ["READ", "WRITTEN"].map((k, i) => {
		const value = counter("LAYERS", module + "_BYTES_" + k);
		return {value, class: i ? "write" : "read", text: bytes(value)};
	})});
	const lines = [["HDF5", "HDF5"], ["PnetCDF", "PNETCDF"], ["MPI-IO", "MPIIO"], ["system calls", "POSIX"]].map(l => line(...l));
	if (lines.some(l => l.values.some(v => v.value > 0)))
		bar_section("Layers", "Bytes of files used through a library, at each level: what a program asked for, and what that became.", ["level", "read", "written"], lines);
}

// Processes below the ones that started them.
function tree(t) {
	const children = Map.groupBy ? Map.groupBy(t.rows, r => r[1]) : t.rows.reduce((m, r) => m.set(r[1], [...(m.get(r[1]) ?? []), r]), new Map());
	const known = new Set(t.rows.map(r => r[0])), lines = [], seen = new Set();
	const walk = (r, depth) => {
		if (seen.has(r))
			return;
		seen.add(r);
		lines.push(r.map((v, i) => i === 4 ? "\u2003".repeat(Math.min(depth, 12)) + v : v));
		if (r[0] !== r[1])
			(children.get(r[0]) ?? []).forEach(c => walk(c, depth + 1));
	};
	t.rows.filter(r => !known.has(r[1]) || r[0] === r[1]).forEach(r => walk(r, 0));
	t.rows.forEach(r => walk(r, 0));
	return {...t, rows: lines};
}

function ledger() {
	const l = summary.ledger;
	if (!l)
		return section("What the tracer saw", "The log has no ledger: it does not say what its tracer missed.");
	const t = data.tables.find(x => x.id === "counters_LEDGER");
	const lines = t ? t.rows.filter(r => r[1] !== 0) : [];
	section("What the tracer saw", l.complete ? "All operations that were seen are recorded." : "NOT complete: operations or names are missing.",
		table({title: "ledger", columns: t.columns, rows: lines, left: 0}));
}

heading("Job " + summary.job.id + ": " + (summary.job.command ?? summary.job.command_escaped), new Date(summary.job.start * 1000).toLocaleString() + ", user " + summary.job.uid +
	", " + count(summary.job.nprocs) + (summary.job.nprocs === 1 ? " process" : " ranks") + "; from " + (data.log ?? data.log_escaped));
first_things();
findings();
heatmaps();
modules();
patterns();
cache();
layers();
for (const t of data.tables)
	if (!t.id.startsWith("counters_") && t.rows.length)
		section(t.title, "", table(t.id === "processes" ? tree(t) : t));
timelines();
ledger();
for (const t of data.tables)
	if (t.id.startsWith("counters_") && t.id !== "counters_LEDGER" && t.rows.length)
		section(t.title, "", element("details", {}, element("summary", {}, t.rows.length + " counters"), table(t)));
