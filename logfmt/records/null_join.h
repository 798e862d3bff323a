/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LOGFMT_RECORDS_NULL_JOIN_H
#define LOGFMT_RECORDS_NULL_JOIN_H

void scribe_null_join(void *rec, const void *other); /* scribe_own_join */

#endif
