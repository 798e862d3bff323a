// SPDX-License-Identifier: BSD-3-Clause
// What pages are made of: elements, numbers as text, tables that sort, filter and copy.
"use strict";

function element(tag, attributes, ...children) {
	const e = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {}))
		if (name === "style")
			e.style.cssText = value; // allowed where a page's policy refuses style attributes
		else if (name in e && typeof value !== "string")
			e[name] = value;
		else
			e.setAttribute(name, value);
	e.append(...children);
	return e;
}

function bytes(v) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
	let i = 0;
	for (v = Number(v); Math.abs(v) >= 1023.95 && i < 6; i++)
		v /= 1024;
	return (i ? v.toFixed(1) : v) + " " + units[i];
}

function count(v) {
	return typeof v === "number" ? (Number.isInteger(v) ? v.toLocaleString("en-US") : String(+v.toPrecision(6))) : v;
}

function seconds(v) {
	return v >= 1000 ? Math.round(v).toLocaleString("en-US") + " s" : +v.toPrecision(4) + " s";
}

function percent(part, whole) {
	const v = whole > 0 ? 100 * part / whole : 0;
	return (v >= 10 || v === 0 ? Math.round(v) : +v.toPrecision(2)) + " %";
}

function name_of(o) {
	return o.name ?? o.name_escaped ?? o.file ?? o.file_escaped ?? "record " + o.record;
}

function heading(title, about) {
	document.title = title;
	document.getElementById("title").textContent = title;
	document.getElementById("about").textContent = about;
}

function section(title, says, ...children) {
	const made = element("section", {}, element("h2", {}, title), ...(says ? [element("p", {class: "says"}, says)] : []), ...children);
	document.getElementById("main").append(made);
	return made;
}

// A table with bars: head has the columns' names, lines are {name, values: [{value, class, text}]}.
function bars(title, head, lines) {
	const most = Math.max(...lines.map(l => Math.max(...l.values.map(v => v.value))), 0);
	return element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": title}, element("table", {},
		element("thead", {}, element("tr", {}, ...head.map((h, i) => element("th", {scope: "col", class: i ? "" : "text"}, h)))),
		element("tbody", {}, ...lines.map(l => element("tr", {}, element("th", {scope: "row"}, l.name), ...l.values.map(v => element("td", {},
			element("span", {class: "bar " + v.class, style: `width:${most > 0 ? 9 * v.value / most : 0}rem`}), " " + v.text)))))));
}

function cards(list) {
	return element("dl", {}, ...list.map(([k, v]) => element("div", {}, element("dt", {}, k), element("dd", {}, v))));
}

function finding(f) {
	return element("div", {class: "finding " + f.severity}, element("b", {}, f.severity), element("span", {}, f.rule + ": " + f.text),
		...(f.file ?? f.file_escaped ? [element("div", {}, (f.files > 1 ? f.files + " files, most: " : "most: ") + name_of(f))] : []),
		element("div", {}, "→ " + f.advice));
}

const shown = {bytes, count, seconds, id: String, text: String};

// A table of {title, columns: [[name, unit]], rows, left, shown(row, i) or not} with a field to filter, headings to sort,
// and a button. Its update(rows) replaces the rows.
function table(t) {
	const units = t.columns.map(c => c[1]);
	const body = element("tbody");
	const note = element("span", {class: "says", role: "status"});
	const filter = element("input", {type: "search", "aria-label": "filter " + t.title, placeholder: "filter"});
	let order = null, up = false, lines = t.rows;

	function draw() {
		const want = filter.value.toLowerCase();
		lines = want ? t.rows.filter(r => r.some(v => String(v).toLowerCase().includes(want))) : [...t.rows];
		if (order !== null)
			lines.sort((a, b) => (up ? 1 : -1) * (units[order] === "text" ? String(a[order]).localeCompare(b[order]) : a[order] - b[order]));
		body.replaceChildren(...lines.slice(0, 400).map(r => element("tr", {}, ...r.map((v, i) => {
			const cell = element("td", {class: units[i] === "text" ? "text" : "number"}, t.shown ? t.shown(r, i) : shown[units[i]](v));
			if (units[i] !== "text")
				cell.title = v;
			return cell;
		}))));
		note.textContent = lines.length + " of " + (t.rows.length + t.left) + " rows" + (lines.length > 400 ? ", 400 shown" : "") +
			(t.left ? "; " + t.left + " more are in the log" : "");
	}

	const head = element("tr", {}, ...t.columns.map(([name, unit], i) => {
		const button = element("button", {type: "button"}, name);
		const cell = element("th", {class: unit === "text" ? "" : "number", scope: "col"}, button);
		button.onclick = () => {
			up = order === i ? !up : unit === "text";
			order = i;
			for (const other of head.children)
				other.removeAttribute("aria-sort");
			cell.setAttribute("aria-sort", up ? "ascending" : "descending");
			draw();
		};
		return cell;
	}));
	filter.oninput = draw;
	const copy = element("button", {type: "button"}, "copy as CSV");
	copy.onclick = () => {
		const quote = v => /[",\n\r]/.test(v) ? '"' + String(v).replaceAll('"', '""') + '"' : v;
		const text = [t.columns.map(c => c[0]), ...lines].map(r => r.map(quote).join(",")).join("\r\n") + "\r\n";
		navigator.clipboard?.writeText(text).then(() => { note.textContent = lines.length + " rows copied"; },
			() => { note.textContent = "the browser does not let this page copy"; });
	};
	draw();
	const box = element("div", {}, element("div", {class: "tools"}, filter, copy, note),
		element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": t.title}, element("table", {}, element("thead", {}, head), body)));
	// Other rows, in the order and with the filter that the reader has chosen.
	box.update = rows => {
		t.rows = rows;
		draw();
	};
	return box;
}
