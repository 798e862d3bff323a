/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names as text without loss. A name may be any bytes (docs/format.md, "Names with a NUL"); the writer escapes
 * those that a name region cannot hold, commands for display. Allocates nothing.
 */
#include "logfmt/file/escape.h"

#include <stdint.h>
#include <string.h>

/* Bytes of the UTF-8 character at p; 0: malformed, or must not be printed. */
static size_t utf8_at(const unsigned char *p, size_t len)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t c;
	size_t n;

	if (p[0] < 0x80)
		return p[0] >= 0x20 && p[0] != 0x7f;
	n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc0 ? 2 : 0;
	if (n == 0 || n > len || p[0] > 0xf4)
		return 0;
	c = p[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	/*
	 * Overlong forms, surrogates and control characters (C1; C0 and DEL above) are refused, and U+2028 and U+2029
	 * because some programs take them for the end of a line.
	 */
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) || (c >= 0x80 && c < 0xa0) || c == 0x2028 ||
	    c == 0x2029)
		return 0;
	return n;
}

int scribe_name_printable(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t n = utf8_at((const unsigned char *)bytes + i, len - i);

		if (n == 0)
			return 0;
		i += n;
	}
	return 1;
}

size_t scribe_name_escape(const char *bytes, size_t len, char *out, size_t cap)
{
	static const char hex[] = "0123456789abcdef";
	size_t o = 0;

	for (size_t i = 0; i < len;) {
		unsigned char c = (unsigned char)bytes[i];
		size_t n = utf8_at((const unsigned char *)bytes + i, len - i);
		char piece[4] = {'\\', 'x', hex[c >> 4], hex[c & 15]};
		const char *from = piece;
		size_t m = 4;

		if (c == '\\' || c == '\n' || c == '\t') {
			piece[1] = c == '\n' ? 'n' : c == '\t' ? 't' : '\\';
			m = 2;
			n = 1;
		} else if (n > 0) {
			from = bytes + i;
			m = n;
		}
		for (size_t k = 0; k < m; k++, o++) {
			if (o + 1 < cap)
				out[o] = from[k];
		}
		i += n ? n : 1;
	}
	if (cap)
		out[o < cap ? o : cap - 1] = 0;
	return o;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

long scribe_name_unescape(const char *text, size_t len, char *out)
{
	long o = 0;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c != '\\') {
			out[o++] = c;
			continue;
		}
		if (++i == len)
			return -1;
		if (text[i] == 'x') {
			if (len - i < 3 || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0)
				return -1;
			out[o++] = (char)(digit(text[i + 1]) << 4 | digit(text[i + 2]));
			i += 2;
		} else if (text[i] == 'n' || text[i] == 't' || text[i] == '\\') {
			out[o++] = text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : '\\';
		} else {
			return -1;
		}
	}
	return o;
}
