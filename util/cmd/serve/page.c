// SPDX-License-Identifier: BSD-3-Clause
/* The page's files, linked by the assembler, so that none are needed at run time. */
#include "util/cmd/serve/page.h"

#include <string.h>

#define FILE_OF(name, path) \
	__asm__(".section .rodata\n.global scribe_page_" #name "\nscribe_page_" #name ":\n.incbin \"" path \
		"\"\n.global scribe_page_" #name "_end\nscribe_page_" #name "_end:\n.byte 0\n.previous\n"); \
	extern const unsigned char scribe_page_##name[], scribe_page_##name##_end[]

FILE_OF(html, SCRIBE_SERVE_FOLDER "/page.html");
FILE_OF(js, SCRIBE_SERVE_FOLDER "/page.js");
FILE_OF(css, SCRIBE_PAGE_FOLDER "/page.css");
FILE_OF(elements, SCRIBE_PAGE_FOLDER "/elements.js");
FILE_OF(grid, SCRIBE_PAGE_FOLDER "/grid.js");

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
