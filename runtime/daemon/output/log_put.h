/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_OUTPUT_LOG_PUT_H
#define RUNTIME_DAEMON_OUTPUT_LOG_PUT_H

#include "runtime/daemon/output/delivery.h"

/* Called until the delivery has another stage, or is freed. */
void scribe_delivery_days(struct scribe_job *job, struct scribe_delivery *v);
void scribe_delivery_put(struct scribe_job *job, struct scribe_delivery *v);
void scribe_delivery_elsewhere(struct scribe_job *job, struct scribe_delivery *v);
void scribe_delivery_spool(struct scribe_job *job, struct scribe_delivery *v);
void scribe_delivery_merge(struct scribe_job *job, struct scribe_delivery *v);

#endif
