/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_TOP_TOP_H
#define UTIL_CMD_TOP_TOP_H

int scribe_top_main(int argc, char **argv);

#endif
