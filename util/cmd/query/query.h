/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_QUERY_QUERY_H
#define UTIL_CMD_QUERY_QUERY_H

/* argv as given to `ioscribe query`. Returns the exit status. */
int scribe_query_main(int argc, char **argv);

#endif
