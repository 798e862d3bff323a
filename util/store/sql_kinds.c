// SPDX-License-Identifier: BSD-3-Clause
/* Kinds of databases, found by the start of the name. Must not know what a database holds. */
#include "util/store/sql_kinds.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/store/sql_shown.h"

#define MODULE "ioscribe-postgresql.so"

static int load_postgresql(const struct scribe_sql_kind_ops **ret_ops, struct scribe_err *err)
{
	char self[PATH_MAX - sizeof(MODULE) - 1], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	void *module;

	/* Not by a search path, which could select other code. */
	self[n > 0 ? n : 0] = 0;
	snprintf(path, sizeof(path), "%.*s" MODULE, (int)(strrchr(self, '/') ? strrchr(self, '/') + 1 - self : 0),
		 self);
	if (access(path, F_OK) < 0)
		return scribe_err_set(err, -SCRIBE_E_UNSUPPORTED,
				      "PostgreSQL: this installation is without it: there is no %s", path);
	module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	*ret_ops = module ? dlsym(module, "scribe_sql_postgresql") : NULL;
	return *ret_ops ? 0 : scribe_err_set(err, -SCRIBE_E_UNSUPPORTED, "PostgreSQL: %s", dlerror());
}

int scribe_sql_kind(const char *place, const struct scribe_sql_kind_ops **ret_ops, struct scribe_err *err)
{
	char *shown;

	if (!strncmp(place, "postgresql://", 13) || !strncmp(place, "postgres://", 11))
		return load_postgresql(ret_ops, err);
	if (!strstr(place, "://")) {
		*ret_ops = &scribe_sql_sqlite;
		return 0;
	}
	shown = scribe_sql_shown(place);
	scribe_err_set(err, -SCRIBE_E_UNSUPPORTED, "%s: no kind of database that this program knows",
		       shown ? shown : "store");
	free(shown);
	return -SCRIBE_E_UNSUPPORTED;
}
