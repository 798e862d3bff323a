// SPDX-License-Identifier: BSD-3-Clause
// Asks the server that the page came from, again and again, and has the answers drawn.
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
let busy = false;

async function ask(question, parameters) {
	const reply = await fetch("/api/ask?" + new URLSearchParams({question, ...parameters}), {headers: {Authorization: "Bearer " + token}});
	const answer = await reply.json();
	if (reply.status === 401)
		throw new Error("The token is missing or wrong: open the address that ioscribe serve has printed.");
	if (!reply.ok)
		throw new Error(answer.error);
	return answer;
}

function set_options(select, list, keep) {
	const chosen = select.value;
	const now = [...select.options].map(o => o.value + o.textContent).join("\n");
	if (now === list.map(o => o.value + o.text).join("\n"))
		return;
	select.replaceChildren(...list.map(o => new Option(o.text, o.value)));
	if (keep && list.some(o => o.value === chosen))
		select.value = chosen;
}

function put_totals(job, operations) {
	const sum = key => operations.reduce((s, r) => s + r[key], 0);
	const of = op => operations.filter(r => r.op === op).reduce((s, r) => s + r.bytes, 0);
	const totals = {
		Program: job.exe ?? "not known", Began: new Date(job.first_us / 1000).toLocaleString(),
		"Seen for": duration(job.last_us - job.first_us), Operations: short(sum("operations")),
		Read: short(of("read"), true), Written: short(of("write"), true),
	};
	el("totals").replaceChildren(...Object.entries(totals).map(([name, value]) => {
		const box = document.createElement("div"), dt = document.createElement("dt"), dd = document.createElement("dd");
		dt.textContent = name;
		dd.textContent = value;
		box.append(dt, dd);
		return box;
	}));
}

// Whole seconds, so that there are at most 120 spans.
function span_of(job) {
	return Math.max(1, Math.ceil((job.last_us - job.first_us) / 1e6 / 120));
}

async function refresh() {
	const jobs = rows(await ask("jobs", {limit: 500}));
	set_options(el("job"), jobs.map(j => ({value: String(j.job), text: j.job + (j.use > 1 ? " (use " + j.use + ")" : "") +
		(j.exe ? "  " + j.exe : "")})), true);
	if (!jobs.length)
		return "no operations yet";
	const job = jobs.find(j => String(j.job) === el("job").value) || jobs[0];
	const modules = rows(await ask("modules", {}));
	set_options(el("module"), [{value: "", text: "all"}, ...modules.map(m => ({value: m.module, text: m.module}))], true);
	const want = {job: job.job, module: el("module").value}, seconds = span_of(job);
	put_totals(job, rows(await ask("operations", want)));
	plot_over_time(await ask("over_time", {...want, seconds}), seconds, job.first_us);
	plot_heat(await ask("heat", {...want, seconds}), seconds, job.first_us);
	plot_durations(await ask("durations", want));
	plot_nodes(await ask("nodes", want));
	put_slowest(await ask("slowest", want), job.first_us);
	return "as of " + new Date().toLocaleTimeString();
}

async function again() {
	if (busy)
		return;
	busy = true;
	try {
		el("state").textContent = await refresh();
		el("state").className = "";
	} catch (e) {
		el("state").textContent = e.message;
		el("state").className = "bad";
	}
	busy = false;
}

el("job").addEventListener("change", again);
el("module").addEventListener("change", again);
dark.addEventListener("change", again);
setInterval(() => el("live").checked && !document.hidden && again(), 2000);
again();
