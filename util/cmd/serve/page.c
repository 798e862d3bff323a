// SPDX-License-Identifier: BSD-3-Clause
#include "util/cmd/serve/page.h"

#include <string.h>

#include "util/page/linked.h"

LINKED_FILE(scribe_page_html, SCRIBE_SERVE_FOLDER "/page.html");
LINKED_FILE(scribe_page_js, SCRIBE_SERVE_FOLDER "/page.js");
LINKED_FILE(scribe_page_css, SCRIBE_PAGE_FOLDER "/page.css");
LINKED_FILE(scribe_page_elements, SCRIBE_PAGE_FOLDER "/elements.js");
LINKED_FILE(scribe_page_grid, SCRIBE_PAGE_FOLDER "/grid.js");

static const struct scribe_page_file files[] = {
	{"/page", "text/html; charset=utf-8", scribe_page_html, scribe_page_html_end},
	{"/page/page.css", "text/css; charset=utf-8", scribe_page_css, scribe_page_css_end},
	{"/page/elements.js", "text/javascript; charset=utf-8", scribe_page_elements, scribe_page_elements_end},
	{"/page/grid.js", "text/javascript; charset=utf-8", scribe_page_grid, scribe_page_grid_end},
	{"/page/page.js", "text/javascript; charset=utf-8", scribe_page_js, scribe_page_js_end},
};

const struct scribe_page_file *scribe_page_file(const char *path)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strcmp(files[i].path, path))
			return &files[i];
	return NULL;
}
