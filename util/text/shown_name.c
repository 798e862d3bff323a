// SPDX-License-Identifier: BSD-3-Clause
/* Names for --escape, escaped if unprintable. For `parse`, `dxt`, `store`, `publish`. */
#include "util/text/shown_name.h"

#include <stdlib.h>
#include <string.h>

#include "logfmt/file/names.h"
#include "util/text/quoted.h"

const char *scribe_shown_name(struct scribe_shown_name *s, const char *name, size_t *len)
{
	size_t need;

	/* Also a backslash, so that escapes can be reversed. */
	if (!name || (scribe_name_printable(name, *len) && !memchr(name, '\\', *len)))
		return name;
	need = scribe_name_escape(name, *len, s->text, s->cap);
	if (need >= s->cap) {
		char *bigger = realloc(s->text, need + 1);

		if (!bigger) /* better unescaped than missing */
			return name;
		s->text = bigger;
		s->cap = need + 1;
		scribe_name_escape(name, *len, s->text, s->cap);
	}
	*len = need;
	return s->text;
}

const char *scribe_sent_name(struct scribe_shown_name *s, const char *name, size_t *len)
{
	const bool plain = name && scribe_text_utf8(name, *len) && !memchr(name, 0, *len);

	return plain ? name : scribe_shown_name(s, name, len);
}

void scribe_shown_name_clear(struct scribe_shown_name *s)
{
	free(s->text);
	*s = (struct scribe_shown_name){NULL, 0};
}
