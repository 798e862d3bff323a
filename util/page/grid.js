// SPDX-License-Identifier: BSD-3-Clause
// Cells of ranks and time on a canvas, with sums at the top and the right. Zoom: drag, buttons, keys; the level of the
// data is chosen by the width of a column.
"use strict";

// A level's cells: base64 of a zlib stream.
async function unpack(text, type) {
	const packed = Uint8Array.from(atob(text), c => c.charCodeAt(0));
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new type(await new Response(stream).arrayBuffer());
}

// Numbers of a byte, see the program's logarithm().
const steps = Float64Array.from({length: 256}, (_, i) => i === 0 ? 0 : i === 1 ? 1 : 2 ** ((i - 1) / 8));

// 256 colours as pixels, from the background to a strong colour. Lightness alone tells: the same for all eyes.
function palette(stops) {
	return Uint32Array.from({length: 256}, (_, n) => {
		const at = Math.min(3.9999, n / 255 * 4), i = Math.floor(at);
		const [r, g, b] = stops[i].map((v, k) => Math.round(v + (stops[i + 1][k] - v) * (at - i)));
		return (0xff000000 | b << 16 | g << 8 | r) >>> 0;
	});
}

const palettes = {
	light: palette([[255, 255, 255], [198, 219, 239], [107, 174, 214], [33, 113, 181], [8, 38, 92]]),
	dark: palette([[27, 33, 41], [20, 74, 120], [40, 140, 190], [140, 205, 225], [250, 250, 210]]),
};

class Grid {
	// data: {span in seconds, ranks, rows, each: ranks a row, levels: [{columns, ready}]}, coarsest level first;
	// options: {value(level, cell) -> number, text(level, cell) -> string, label}
	constructor(data, options) {
		Object.assign(this, {data, options, dark: matchMedia("(prefers-color-scheme: dark)")});
		this.canvas = element("canvas", {tabindex: "0", role: "img", "aria-label": options.label});
		this.output = element("output");
		this.whole();
		const zoom = by => { this.zoom(by, 0.5); };
		const buttons = [["+", () => zoom(0.5), "zoom in"], ["−", () => zoom(2), "zoom out"], ["◀", () => this.pan(-0.25), "earlier"],
			["▶", () => this.pan(0.25), "later"], ["whole", () => { this.whole(); this.draw(); }, "the whole run"]];
		this.tools = element("div", {class: "tools"}, ...buttons.map(([text, does, label]) => {
			const b = element("button", {type: "button", "aria-label": label, title: label}, text);
			b.onclick = does;
			return b;
		}));
		this.box = element("div", {class: "grid"}, this.canvas, this.output);
		this.canvas.onkeydown = e => {
			const does = {"+": () => zoom(0.5), "-": () => zoom(2), ArrowLeft: () => this.pan(-0.25), ArrowRight: () => this.pan(0.25),
				0: () => { this.whole(); this.draw(); }}[e.key];
			if (does) {
				e.preventDefault();
				does();
			}
		};
		this.canvas.onpointerdown = e => { this.from = this.at(e); this.canvas.setPointerCapture(e.pointerId); };
		this.canvas.onpointermove = e => { this.moved(e); };
		this.canvas.onpointerup = e => {
			const a = this.from, b = this.at(e);
			this.from = null;
			if (a && b && Math.abs(a.x - b.x) > 5) {
				[this.begin, this.end] = [Math.min(a.time, b.time), Math.max(a.time, b.time)];
				this.bounds();
			}
			this.draw();
		};
		this.canvas.ondblclick = () => { this.whole(); this.draw(); };
		this.canvas.onpointerleave = () => { this.output.style.display = "none"; };
		this.dark.addEventListener("change", () => this.draw());
		new ResizeObserver(() => this.draw()).observe(this.box);
	}

	whole() {
		[this.begin, this.end] = [0, this.data.span];
	}

	// Other data; what the reader has zoomed to stays.
	update(data) {
		const is_whole = this.begin === 0 && this.end === this.data.span;
		this.data = data;
		if (is_whole)
			this.whole();
		this.bounds();
		this.draw();
	}

	bounds() {
		const least = this.data.span / 1e6, width = Math.min(this.data.span, Math.max(least, this.end - this.begin));
		this.begin = Math.max(0, Math.min(this.begin, this.data.span - width));
		this.end = this.begin + width;
	}

	zoom(by, around) {
		const middle = this.begin + (this.end - this.begin) * around, width = (this.end - this.begin) * by;
		[this.begin, this.end] = [middle - width * around, middle + width * (1 - around)];
		this.bounds();
		this.draw();
	}

	pan(by) {
		const step = (this.end - this.begin) * by;
		[this.begin, this.end] = [this.begin + step, this.end + step];
		this.bounds();
		this.draw();
	}

	// The plot's rectangle within the canvas, in CSS pixels.
	area() {
		const width = this.canvas.clientWidth, rows = this.data.rows, plot = Math.max(40, Math.min(rows * 24, 256));
		return {left: 58, top: 46, width: Math.max(10, width - 58 - 70), height: plot, all: plot + 46 + 34};
	}

	at(e) {
		const box = this.canvas.getBoundingClientRect(), a = this.area(), x = e.clientX - box.left, y = e.clientY - box.top;
		return {x, y, time: this.begin + (x - a.left) / a.width * (this.end - this.begin), row: Math.floor((y - a.top) / a.height * this.data.rows),
			inside: x >= a.left && x < a.left + a.width && y >= a.top && y < a.top + a.height};
	}

	level() {
		const columns = this.area().width / ((this.end - this.begin) / this.data.span);
		return this.data.levels.find(l => l.columns >= columns) || this.data.levels[this.data.levels.length - 1];
	}

	ranks(row) {
		const {ranks, each} = this.data, first = row * each, last = Math.min(ranks, first + each) - 1;
		return first === last ? "rank " + first : "ranks " + first + " to " + last;
	}

	moved(e) {
		const p = this.at(e), level = this.level();
		this.drag = this.from ? p : null;
		if (this.drag)
			this.draw();
		this.output.style.display = p.inside ? "block" : "none";
		if (!p.inside)
			return;
		const column = Math.min(level.columns - 1, Math.floor(p.time / this.data.span * level.columns)), width = this.data.span / level.columns;
		this.output.textContent = this.ranks(p.row) + "\n" + seconds(column * width) + " to " + seconds((column + 1) * width) + "\n" +
			this.options.text(level, p.row * level.columns + column);
		this.output.style.left = Math.min(p.x + 12, this.canvas.clientWidth - 190) + "px";
		this.output.style.top = p.y + 12 + "px";
	}

	// Sums of the visible columns, by column and by row, and the largest cell.
	sums(level, first, last) {
		const columns = new Float64Array(last - first), rows = new Float64Array(this.data.rows);
		let most = 0;
		for (let r = 0; r < this.data.rows; r++)
			for (let c = first; c < last; c++) {
				const v = this.options.value(level, r * level.columns + c);
				columns[c - first] += v;
				rows[r] += v;
				most = v > most ? v : most;
			}
		return {columns, rows, most};
	}

	draw() {
		const a = this.area(), ratio = devicePixelRatio || 1, level = this.level(), style = getComputedStyle(document.documentElement);
		if (!this.canvas.clientWidth || !level.ready)
			return;
		this.canvas.style.height = a.all + "px";
		this.canvas.width = Math.round(this.canvas.clientWidth * ratio);
		this.canvas.height = Math.round(a.all * ratio);
		const d = this.canvas.getContext("2d"), per = level.columns / this.data.span;
		const first = Math.max(0, Math.floor(this.begin * per)), last = Math.min(level.columns, Math.max(first + 1, Math.ceil(this.end * per)));
		const {columns, rows, most} = this.sums(level, first, last);
		d.scale(ratio, ratio);
		this.cells(d, a, level, first, last, most, per);
		d.fillStyle = style.getPropertyValue("--read");
		const high = Math.max(...columns, 0), wide = Math.max(...rows, 0), x = c => a.left + ((first + c) / per - this.begin) / (this.end - this.begin) * a.width;
		d.save();
		d.beginPath();
		d.rect(a.left, 0, a.width, a.top);
		d.clip();
		for (let c = 0; c < columns.length && high > 0; c++)
			d.fillRect(x(c), a.top - 4 - 38 * columns[c] / high, Math.max(1, x(c + 1) - x(c)), 38 * columns[c] / high);
		d.restore();
		for (let r = 0; r < rows.length && wide > 0; r++)
			d.fillRect(a.left + a.width + 4, a.top + r * a.height / rows.length, 60 * rows[r] / wide, Math.max(1, a.height / rows.length - 1));
		this.axes(d, a, style);
	}

	cells(d, a, level, first, last, most, per) {
		const image = new ImageData(last - first, this.data.rows), pixels = new Uint32Array(image.data.buffer);
		const colours = this.dark.matches ? palettes.dark : palettes.light;
		for (let r = 0, at = 0; r < this.data.rows; r++)
			for (let c = first; c < last; c++, at++) {
				const v = this.options.value(level, r * level.columns + c);
				pixels[at] = colours[v > 0 ? 31 + Math.round(224 * Math.sqrt(v / most)) : 0];
			}
		const off = element("canvas", {width: last - first, height: this.data.rows}), left = (first / per - this.begin) / (this.end - this.begin);
		off.getContext("2d").putImageData(image, 0, 0);
		d.imageSmoothingEnabled = false;
		d.save();
		d.beginPath();
		d.rect(a.left, a.top, a.width, a.height);
		d.clip();
		d.drawImage(off, a.left + left * a.width, a.top, (last - first) / per / (this.end - this.begin) * a.width, a.height);
		if (this.drag) {
			d.fillStyle = "rgba(128,128,128,.35)";
			d.fillRect(Math.min(this.from.x, this.drag.x), a.top, Math.abs(this.drag.x - this.from.x), a.height);
		}
		d.restore();
	}

	axes(d, a, style) {
		d.fillStyle = d.strokeStyle = style.getPropertyValue("--soft");
		d.strokeRect(a.left, a.top, a.width, a.height);
		d.font = "12px system-ui, sans-serif";
		d.textAlign = "center";
		const width = this.end - this.begin, rough = width / Math.max(2, a.width / 110), power = 10 ** Math.floor(Math.log10(rough));
		const step = [1, 2, 5, 10].map(k => k * power).find(k => k >= rough);
		for (let t = Math.ceil(this.begin / step) * step; t <= this.end + step / 1e6; t += step) {
			const x = a.left + (t - this.begin) / width * a.width;
			d.fillRect(x, a.top + a.height, 1, 4);
			d.fillText(+t.toPrecision(6), x, a.top + a.height + 17);
		}
		d.textAlign = "right";
		d.fillText("0", a.left - 6, a.top + 10);
		if (this.data.ranks > 1)
			d.fillText(this.data.ranks - 1, a.left - 6, a.top + a.height);
		d.fillText("rank", a.left - 6, a.top + a.height / 2 + 4);
		d.textAlign = "center";
		d.fillText("seconds from the start of the job", a.left + a.width / 2, a.top + a.height + 31);
	}
}
