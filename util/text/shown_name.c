// SPDX-License-Identifier: BSD-3-Clause
/*
 * Names as --escape shows them: as they are where they print, else escaped. The buffer of the
 * escape belongs to the struct scribe_shown_name and serves the next name again. Used by `parse`,
 * `dxt`, `store` and `publish`. Knows nothing of logs.
 */
#include "util/text/shown_name.h"

#include <stdlib.h>
#include <string.h>

#include "logfmt/file/names.h"
#include "util/text/quoted.h"

/*
 * A backslash alone makes a name escaped, too, so that the text can be undone. Without memory the
 * name is returned as it is.
 */
const char *scribe_shown_name(struct scribe_shown_name *s, const char *name, size_t *len)
{
	size_t need;

	if (!name || (scribe_name_printable(name, *len) && !memchr(name, '\\', *len)))
		return name;
	need = scribe_name_escape(name, *len, s->text, s->cap);
	if (need >= s->cap) {
		char *bigger = realloc(s->text, need + 1);

		if (!bigger)
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
