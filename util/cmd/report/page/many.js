// SPDX-License-Identifier: BSD-3-Clause
// The page of two logs compared, and of a directory's logs.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);

function compare() {
	const names = ["first", "second"].map(k => data[k].log ?? data[k].log_escaped);
	heading("Two logs compared", "First: " + names[0] + ". Second: " + names[1] + ".");
	const [a, b] = [data.first.summary, data.second.summary];
	const only = (x, y) => x.findings.filter(f => !y.findings.some(o => o.rule === f.rule));
	const parts = [["new in the second", only(b, a)], ["gone in the second", only(a, b)]].filter(p => p[1].length)
		.flatMap(([title, list]) => [element("h3", {}, title), ...list.map(finding)]);
	section("Findings", parts.length ? "Rules that one of the logs breaks, and the other does not." : "Both logs break the same rules.", ...parts);
	const change = (x, y) => x === y ? 0 : x === 0 ? Infinity : 100 * (y / x - 1);
	const text = v => v === 0 ? "" : v === Infinity ? "new" : (v > 0 ? "+" : "") + +v.toPrecision(3) + " %";
	section("Figures", "Times are seconds; those of modules as in Darshan's estimate.", table({title: "figures", left: 0,
		columns: [["figure", "text"], ["first", "count"], ["second", "count"], ["change in %", "count"]],
		rows: data.changes.map(([name, , x, y]) => [name, x, y, change(x, y)]),
		shown: (r, i) => i === 0 ? r[0] : i === 3 ? text(r[3]) : shown[data.changes.find(c => c[0] === r[0])[1]](r[i])}));
	section("Files", "Whose I/O time changed most, over all ranks.", table({title: "files", left: 0,
		columns: [["file", "text"], ["first", "seconds"], ["second", "seconds"], ["difference", "seconds"]],
		rows: data.files.map(f => [f.name ?? f.name_escaped, ...f.seconds, f.seconds[1] - f.seconds[0]])}));
}

// Of a row of data.logs.
const columns = [["log", "text"], ["job", "id"], ["user", "id"], ["program", "text"], ["day", "text"], ["file system", "text"], ["ranks", "count"],
	["run time", "seconds"], ["I/O of the slowest rank", "seconds"], ["I/O of all ranks", "seconds"], ["read", "bytes"], ["written", "bytes"],
	["severe", "count"], ["warnings", "count"], ["first finding", "text"], ["slowest file", "text"]];

function groups(title, key, says) {
	const found = new Map();
	for (const r of data.logs) {
		const g = found.get(r[key]) ?? [r[key], 0, 0, 0, 0, 0, 0, 0];
		[7, 8, 10, 11, 12, 13].forEach((column, i) => { g[i + 2] += r[column]; });
		g[1]++;
		found.set(r[key], g);
	}
	section(title, says, table({title, left: 0, rows: [...found.values()].sort((x, y) => y[3] - x[3]),
		columns: [columns[key], ["logs", "count"], ["run time", "seconds"], ["I/O of the slowest rank", "seconds"],
			["read", "bytes"], ["written", "bytes"], ["severe", "count"], ["warnings", "count"]]}));
}

function survey() {
	const sum = column => data.logs.reduce((n, r) => n + r[column], 0);
	heading("Logs below " + (data.directory ?? data.directory_escaped), count(data.logs.length) + " logs" + (data.unread ? ", " + data.unread + " unreadable" : ""));
	section("What matters", "", cards([["logs", count(data.logs.length)], ["run time", seconds(sum(7))], ["I/O of the slowest ranks", seconds(sum(8))],
		["of the run time", percent(sum(8), sum(7))], ["read", bytes(sum(10))], ["written", bytes(sum(11))], ["with severe findings", count(data.logs.filter(r => r[12] > 0).length)]]));
	section("Worst logs", "By the time that the slowest rank spent on I/O.", table({title: "logs", columns, left: 0, rows: [...data.logs].sort((x, y) => y[8] - x[8])}));
	const rules = new Map();
	for (const r of data.logs)
		if (r[14])
			rules.set(r[14], (rules.get(r[14]) ?? 0) + 1);
	section("First findings", "How many logs have it as their first.", table({title: "findings", left: 0, columns: [["finding", "text"], ["logs", "count"]], rows: [...rules].sort((x, y) => y[1] - x[1])}));
	groups("Users", 2, "");
	groups("Programs", 3, "");
	groups("File systems", 5, "By the file system with most of a log's bytes.");
	groups("Days", 4, "By the day on which a job began (UTC).");
}

if (data.first)
	compare();
else
	survey();
