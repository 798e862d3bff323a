/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The LUSTRE module: striping of files, from attributes read when the log is made. Runs in the log builder. The
 * core owns the records.
 */
#include "runtime/core/lov.h"
#include "runtime/core/module.h"
#include "runtime/core/module_ops.h"

static void lustre_files(struct scribe_core *core, const struct scribe_module_file *file, size_t n)
{
	size_t bytes = 0;

	/* A pass for the size first: memory can be requested only once. */
	for (size_t i = 0; i < n; i++)
		bytes += scribe_lov_record(file[i].attribute, file[i].attribute_bytes, NULL);
	if (!bytes || scribe_core_register_module(core, SCRIBE_MOD_LUSTRE, NULL, &bytes, NULL, NULL) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		struct scribe_lustre_record *r;

		bytes = scribe_lov_record(file[i].attribute, file[i].attribute_bytes, NULL);
		if (!bytes)
			continue;
		r = scribe_core_register_record(core, file[i].id, file[i].name, SCRIBE_MOD_LUSTRE, bytes, NULL);
		if (!r)
			return; /* the log marks the module as partial */
		scribe_lov_record(file[i].attribute, file[i].attribute_bytes, r);
		r->base = (struct scribe_base_record){file[i].id, scribe_core_rank(core)};
	}
}

const struct scribe_module_ops scribe_module_lustre = {
	.name = "LUSTRE",
	.module = SCRIBE_MOD_LUSTRE,
	.standard = true,
	.fs_type = "lustre",
	.attribute = "lustre.lov",
	.files = lustre_files,
};
