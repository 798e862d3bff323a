// SPDX-License-Identifier: BSD-3-Clause
/* Text and reals as JSON and CSV. Text that is not UTF-8 is escaped under the key KEY_escaped. */
#include "util/text/quoted.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/file/names.h"

/* Bytes of a well-formed UTF-8 character; 0: malformed. */
static size_t character(const unsigned char *p, size_t len)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : 4;

	if (n > len || (n == 4 && (p[0] < 0xf0 || p[0] > 0xf4)))
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, beyond U+10FFFF. */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

bool scribe_text_utf8(const char *bytes, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		n = character((const unsigned char *)bytes + i, len - i);
		if (!n)
			return false;
	}
	return true;
}

void scribe_json_string(struct scribe_out *out, const char *bytes, size_t len)
{
	static const char shortened[] = "btn.fr"; /* 8 to 13 */
	size_t plain = 0;

	scribe_out_bytes(out, "\"", 1);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		scribe_out_bytes(out, bytes + plain, i - plain);
		plain = i + 1;
		if (c == '"' || c == '\\')
			scribe_out_printf(out, "\\%c", c);
		else if (c >= 8 && c <= 13 && c != 11)
			scribe_out_printf(out, "\\%c", shortened[c - 8]);
		else
			scribe_out_printf(out, "\\u%04X", c);
	}
	scribe_out_bytes(out, bytes + plain, len - plain);
	scribe_out_bytes(out, "\"", 1);
}

/* The caller frees. NULL: out of memory. */
static char *escaped(const char *bytes, size_t len, size_t *ret_n)
{
	size_t n = scribe_name_escape(bytes, len, NULL, 0);
	char *text = malloc(n + 1);

	if (text)
		scribe_name_escape(bytes, len, text, n + 1);
	*ret_n = n;
	return text;
}

int scribe_json_text(struct scribe_out *out, const char *key, const char *bytes, size_t len)
{
	bool plain = scribe_text_utf8(bytes, len);
	char *text = NULL;
	size_t n;

	scribe_out_printf(out, plain ? "\"%s\":" : "\"%s_escaped\":", key);
	if (plain) {
		scribe_json_string(out, bytes, len);
		return 0;
	}
	text = escaped(bytes, len, &n);
	if (!text)
		return -ENOMEM;
	scribe_json_string(out, text, n);
	free(text);
	return 0;
}

void scribe_json_real(struct scribe_out *out, double v)
{
	char text[40];

	if (v == 0 && !signbit(v)) {
		scribe_out_bytes(out, "0.0", 3);
		return;
	}
	snprintf(text, sizeof(text), "%.17g", v); /* 17 digits: reads back exactly */
	scribe_out_text(out, text);
	if (!strpbrk(text, ".e")) /* stays a real for readers that distinguish integers */
		scribe_out_bytes(out, ".0", 2);
}

static void put_field(struct scribe_out *out, const char *bytes, size_t len)
{
	int quote = 0;

	for (size_t i = 0; i < len && !quote; i++)
		quote = bytes[i] == ',' || bytes[i] == '"' || bytes[i] == '\n' || bytes[i] == '\r';
	if (!quote) {
		scribe_out_bytes(out, bytes, len);
		return;
	}
	scribe_out_bytes(out, "\"", 1);
	for (size_t i = 0; i < len; i++)
		scribe_out_bytes(out, bytes[i] == '"' ? "\"\"" : bytes + i, bytes[i] == '"' ? 2 : 1);
	scribe_out_bytes(out, "\"", 1);
}

int scribe_csv_text(struct scribe_out *out, const char *bytes, size_t len)
{
	char *text;
	size_t n;

	/* A backslash is escaped too, so that escapes can be reversed. */
	if (scribe_name_printable(bytes, len) && !memchr(bytes, '\\', len)) {
		put_field(out, bytes, len);
		return 0;
	}
	text = escaped(bytes, len, &n);
	if (!text)
		return -ENOMEM;
	put_field(out, text, n);
	free(text);
	return 0;
}

int scribe_csv_utf8(struct scribe_out *out, const char *bytes, size_t len)
{
	if (!scribe_text_utf8(bytes, len))
		return scribe_csv_text(out, bytes, len);
	put_field(out, bytes, len);
	return 0;
}
