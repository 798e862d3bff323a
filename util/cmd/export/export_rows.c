// SPDX-License-Identifier: BSD-3-Clause
/* Cells common to all records' rows, and the call of the format's sink. Cells borrow from the log. */
#include "util/cmd/export/export_rows.h"

#include "util/text/print_record.h"

int scribe_export_row(struct scribe_export_rows *r)
{
	return r->sink->row(r->sink->ctx, &r->table, r->cells, r->err);
}

int scribe_export_place(struct scribe_export_rows *r, const void *record)
{
	const struct scribe_base_record *base = record;
	size_t len = 0;
	const char *name = scribe_names_find(r->log->names, base->id, &len);
	struct scribe_mount m = scribe_print_mount_of(r->log->mounts, r->log->nmounts, name);

	r->cells[0] = cell_id(base->id);
	r->cells[1] = cell_int(base->rank);
	r->cells[2] = cell_bytes(name, len);
	r->cells[3] = cell_text(m.path);
	r->cells[4] = cell_text(m.type);
	return SCRIBE_EXPORT_PLACES;
}
