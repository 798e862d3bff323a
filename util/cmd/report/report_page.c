// SPDX-License-Identifier: BSD-3-Clause
/* Puts styles, scripts and data into a page. Must not know modules. */
#include <stdlib.h>
#include <string.h>

#include "util/cmd/report/report.h"
#include "util/page/linked.h"

LINKED_FILE(scribe_report_html, SCRIBE_REPORT_FOLDER "/report.html");
LINKED_FILE(scribe_report_css, SCRIBE_PAGE_FOLDER "/page.css");
LINKED_FILE(scribe_report_elements, SCRIBE_PAGE_FOLDER "/elements.js");
LINKED_FILE(scribe_report_grid, SCRIBE_PAGE_FOLDER "/grid.js");
LINKED_FILE(scribe_report_log, SCRIBE_REPORT_FOLDER "/log.js");
LINKED_FILE(scribe_report_many, SCRIBE_REPORT_FOLDER "/many.js");

/* JSON within <script>: a name may hold "</script>". */
static void put_json(struct scribe_out *out, const struct scribe_out *json)
{
	const char *at = json->buf, *const end = json->buf + json->len;

	while (at < end) {
		const char *mark = memchr(at, '<', (size_t)(end - at));

		scribe_out_bytes(out, at, (size_t)((mark ? mark : end) - at));
		if (mark)
			scribe_out_text(out, "\\u003c");
		at = mark ? mark + 1 : end;
	}
}

static void put_escaped(struct scribe_out *out, const struct scribe_out *text)
{
	for (const char *at = text->buf; at < text->buf + text->len; at++) {
		if (*at == '<')
			scribe_out_text(out, "&lt;");
		else if (*at == '&')
			scribe_out_text(out, "&amp;");
		else
			scribe_out_bytes(out, at, 1);
	}
}

static void put_script(struct scribe_out *out, enum scribe_report_kind kind)
{
	scribe_out_bytes(out, scribe_report_elements, (size_t)(scribe_report_elements_end - scribe_report_elements));
	if (kind == SCRIBE_REPORT_LOG) {
		scribe_out_bytes(out, scribe_report_grid, (size_t)(scribe_report_grid_end - scribe_report_grid));
		scribe_out_bytes(out, scribe_report_log, (size_t)(scribe_report_log_end - scribe_report_log));
	} else {
		scribe_out_bytes(out, scribe_report_many, (size_t)(scribe_report_many_end - scribe_report_many));
	}
}

void scribe_report_page(enum scribe_report_kind kind, const struct scribe_out *json, const struct scribe_out *text,
			struct scribe_out *out)
{
	const char *at = scribe_report_html;

	/* Marks are @CSS@, @TEXT@, @DATA@ and @JS@; the template has no other @. */
	for (const char *mark; (mark = strchr(at, '@')) != NULL;) {
		scribe_out_bytes(out, at, (size_t)(mark - at));
		switch (mark[1]) {
		case 'C':
			scribe_out_bytes(out, scribe_report_css, (size_t)(scribe_report_css_end - scribe_report_css));
			break;
		case 'J':
			put_script(out, kind);
			break;
		case 'D':
			put_json(out, json);
			break;
		default:
			put_escaped(out, text);
		}
		at = strchr(mark + 1, '@') + 1;
	}
	scribe_out_text(out, at);
}
