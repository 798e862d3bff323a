// SPDX-License-Identifier: BSD-3-Clause
// The page of a store: its jobs, and each job's operations. Questions are sent to the server that the page came from, again
// and again. The fragment of the address selects the job; at first it has the token.
"use strict";

const el = id => document.getElementById(id);
const token = (() => {
	const given = new URLSearchParams(location.hash.slice(1)).get("token");
	if (given) {
		sessionStorage.setItem("token", given);
		history.replaceState(null, "", location.pathname);
	}
	return given || sessionStorage.getItem("token") || "";
})();

async function get(path, parameters) {
	const reply = await fetch(path + "?" + new URLSearchParams(parameters), {headers: {Authorization: "Bearer " + token}});
	const answer = await reply.json();
	if (reply.status === 401)
		throw new Error("The token is missing or wrong: open the address that ioscribe serve has printed.");
	if (!reply.ok)
		throw new Error(answer.error);
	return answer;
}

// Rows of an answer as objects.
async function ask(question, parameters) {
	const answer = await get("/api/ask", {question, ...parameters}), names = answer.columns.map(c => c.text);
	return answer.rows.map(r => Object.fromEntries(r.map((v, i) => [names[i], v])));
}

function microseconds(v) {
	return v < 1000 ? Math.round(v) + " µs" : v < 1e6 ? +(v / 1e3).toPrecision(4) + " ms" : seconds(v / 1e6);
}

function date(us) {
	return new Date(us / 1000).toLocaleString();
}

// The rows are replaced only when they have changed, so that what the reader marks or points at stays.
function changing(t) {
	const made = table({...t, rows: [], left: 0});
	let last = "";
	return [made, rows => {
		const now = JSON.stringify(rows);
		if (now !== last)
			made.update(rows);
		last = now;
	}];
}

// ---- all jobs ----

function jobs_view() {
	const columns = [["job", "id"], ["use", "count"], ["user", "id"], ["program", "text"], ["began", "count"], ["seen for", "count"], ["last seen", "count"]];
	const [list, update] = changing({title: "jobs", columns, shown: (r, i) => i === 0
		? element("a", {href: "#" + new URLSearchParams({job: r[0], use: r[1]})}, String(r[0])) : i === 4 || i === 6 ? date(r[i]) : i === 5 ? microseconds(r[i]) : String(r[i])});
	heading("Jobs", "Jobs with operations in the store, the 1,000 latest. Select one for its operations.");
	section("Jobs", "", list);
	return async () => {
		const jobs = await ask("jobs", {limit: 1000});
		update(jobs.map(j => [j.job, j.use, j.uid, j.exe ?? "not known", j.first_us, j.last_us - j.first_us, j.last_us]));
		return jobs.length ? "" : "no operations yet";
	};
}

// ---- one job ----

// From 200 to 400 spans of the job's time, and rows of at most 128; fewer where there are fewer microseconds or ranks.
// Longer than a second they are whole ones, for which the store has sums.
function spans_of(job, ranks) {
	const least = (job.last_us - job.first_us + 1) / 400, unit = least > 1e6 ? 1e6 : 1, each = Math.ceil(ranks / 128);
	const us = Math.ceil(least / unit) * unit, origin = job.first_us - job.first_us % unit;
	return {us, origin, columns: Math.ceil((job.last_us + 1 - origin) / us), each, rows: Math.ceil(ranks / each)};
}

function grid_of(job, ranks, cells) {
	const {us, origin, columns, each, rows} = spans_of(job, ranks);
	const planes = {bytes_read: new Float64Array(rows * columns), bytes_written: new Float64Array(rows * columns), operations: new Float64Array(rows * columns)};
	for (const c of cells) {
		const column = Math.floor((c.time_us - origin) / us), row = Math.floor(c.rank / each);
		if (column >= 0 && column < columns && row >= 0 && row < rows)
			for (const name of Object.keys(planes))
				planes[name][row * columns + column] += c[name];
	}
	return {span: columns * us / 1e6, ranks, each, rows, levels: [{columns, planes, ready: true}]};
}

function heat(job) {
	const choice = element("select", {"aria-label": "what is shown"}, ...["read and written", "read", "written", "operations"].map(t => element("option", {}, t)));
	const value = [(p, i) => p.bytes_read[i] + p.bytes_written[i], (p, i) => p.bytes_read[i], (p, i) => p.bytes_written[i], (p, i) => p.operations[i]];
	const plot = new Grid(grid_of(job, 1, []), {label: "operations by rank and time", value: (l, i) => value[choice.selectedIndex](l.planes, i),
		text: ({planes: p}, i) => "read " + bytes(p.bytes_read[i]) + "\nwritten " + bytes(p.bytes_written[i]) + "\n" + count(p.operations[i]) + " operations"});
	const [numbers, update_numbers] = changing({title: "ranks over time",
		columns: [["from", "seconds"], ["read", "bytes"], ["written", "bytes"], ["operations", "count"]]});
	choice.onchange = () => plot.draw();
	plot.tools.append(choice);
	section("Ranks over time", "By rank (down) and time (across), where an operation ended; sums at the edges. Drag to zoom, double-click for the whole job.",
		plot.tools, plot.box, element("details", {}, element("summary", {}, "numbers"), numbers));
	return async (now, want) => {
		const ranks = (await ask("ranks", want)).reduce((n, r) => Math.max(n, r.rank + 1), 1), {us, origin, each} = spans_of(now, ranks);
		const grid = grid_of(now, ranks, await ask("heat", {...want, us, origin_us: origin, ranks: each})), [{columns, planes}] = grid.levels;
		const sum = (plane, c) => { let n = 0; for (let i = c; i < plane.length; i += columns) n += plane[i]; return n; };
		plot.update(grid);
		update_numbers(Array.from({length: columns}, (_, c) => [c * us / 1e6, sum(planes.bytes_read, c), sum(planes.bytes_written, c), sum(planes.operations, c)])
			.filter(r => r[3]));
	};
}

function operations() {
	const cards_box = element("div"), bars_box = element("div");
	section("What matters", "", cards_box);
	section("Operations", "Number, bytes and time of all ranks.", bars_box);
	return async (now, want) => {
		const all = await ask("operations", want), sum = (key, op) => all.reduce((s, r) => s + (!op || r.op === op ? r[key] : 0), 0);
		cards_box.replaceChildren(cards([["seen for", microseconds(now.last_us - now.first_us)], ["time of all ranks", microseconds(sum("dur_us"))],
			["operations", count(sum("operations"))], ["read", bytes(sum("bytes", "read"))], ["written", bytes(sum("bytes", "write"))]]));
		bars_box.replaceChildren(bars("operations", ["operation", "time", "number", "bytes"], all.map(r => {
			const kind = {read: "read", write: "write"}[r.op] ?? "meta";
			return {name: r.module + " " + r.op, values: [{value: r.dur_us, class: kind, text: microseconds(r.dur_us)}, {value: 0, class: "", text: count(r.operations)},
				{value: 0, class: "", text: r.bytes ? bytes(r.bytes) : ""}]};
		})));
	};
}

// A table whose rows are those of a question.
function asked(title, says, question, columns, row, shown) {
	const [list, update] = changing({title, columns, shown});
	section(title, says, list);
	return async (now, want) => update((await ask(question, want)).map(r => row(r, now)));
}

function job_view(job) {
	const after = us => ((us - job.first_us) / 1e6).toFixed(6) + " s", time = columns => (r, i) => columns.includes(i) ? microseconds(r[i]) : String(r[i] ?? "");
	heading("Job " + job.job + (job.exe ? ": " + job.exe : ""), "user " + job.uid + ", began " + date(job.first_us) + (job.use > 1 ? ", use " + job.use + " of this id" : ""));
	const parts = [operations(), heat(job),
		asked("Slowest operations", "Those that took longest.", "slowest", [["duration", "count"], ["ended after", "count"], ["rank", "id"], ["node", "text"],
			["operation", "text"], ["offset", "bytes"], ["length", "bytes"], ["file", "text"]],
		r => [r.dur_us, r.time_us, r.rank, r.node ?? "", r.module + " " + r.op, r.off ?? "", r.len ?? "", r.path ?? "not known"],
		(r, i) => i === 0 ? microseconds(r[0]) : i === 1 ? after(r[1]) : i === 6 && r[6] !== "" ? bytes(r[6]) : String(r[i])),
		asked("Ranks", "Durations of each rank's operations: mean, standard deviation, shortest and longest.", "durations", [["rank", "id"], ["operation", "text"],
			["number", "count"], ["mean", "count"], ["deviation", "count"], ["shortest", "count"], ["longest", "count"]],
		r => [r.rank, r.module + " " + r.op, r.operations, r.mean_us, r.spread_us, r.least_us, r.most_us], time([3, 4, 5, 6])),
		asked("Nodes", "Operations and bytes of each node.", "nodes", [["node", "text"], ["operation", "text"], ["number", "count"], ["bytes", "bytes"]],
			r => [r.node, r.module + " " + r.op, r.operations, r.bytes])];
	return async () => {
		const now = (await ask("jobs", {job: job.job})).find(j => j.job === job.job && j.use === job.use);
		const want = {job: job.job, use: job.use, module: el("module").value};
		for (const part of parts)
			await part(now ?? job, want);
		return "";
	};
}

// Shows the link if the server knows a log of the job.
async function link_report(job) {
	const at = address, known = await get("/api/report", {job: job.job});
	if (known.address && at === address) {
		el("report").href = known.address;
		el("report").title = "ioscribe report " + known.log;
		el("report").hidden = false;
	}
}

// ---- what is shown ----

let update, busy = false, address; // of the view

async function open_view() {
	const want = new URLSearchParams(location.hash.slice(1)), id = want.get("job"), use = want.get("use");
	const jobs = id ? await ask("jobs", {job: id}) : [], job = jobs.find(j => String(j.job) === id && (!use || String(j.use) === use));
	el("main").replaceChildren();
	el("back").hidden = el("modules").hidden = !job;
	el("report").hidden = true;
	if (job) {
		el("module").replaceChildren(new Option("all", ""), ...(await ask("modules", {})).map(m => new Option(m.module, m.module)));
		await link_report(job);
	}
	update = job ? job_view(job) : jobs_view();
	if (id && !job)
		throw new Error("No job " + id + " is in the store.");
}

// Waits at least four times as long as the answers took: a large store answers others, too.
async function again() {
	const begin = performance.now();
	if (busy)
		return;
	busy = true;
	try {
		if (address !== location.hash) {
			address = location.hash;
			await open_view();
		}
		const state = await update() || "as of " + new Date().toLocaleTimeString();
		if (address === location.hash)
			el("state").textContent = state;
		el("state").className = "says";
	} catch (e) {
		el("state").textContent = e.message;
		el("state").className = "bad";
	}
	busy = false;
	if (address !== location.hash)
		return again();
	clearTimeout(again.timer);
	again.timer = setTimeout(function wait() {
		if (el("live").checked && !document.hidden)
			again();
		else
			again.timer = setTimeout(wait, 500);
	}, Math.max(2000, 4 * (performance.now() - begin)));
}

el("module").addEventListener("change", again);
addEventListener("hashchange", () => {
	el("state").textContent = "loading";
	again();
});
again();
