// SPDX-License-Identifier: BSD-3-Clause
/* Callbacks by which lower components reach sessions and quotas without including control/. */
#include "runtime/daemon/control/control.h"

#include "runtime/daemon/control/run_session.h"
#include "runtime/daemon/control/server.h"
#include "runtime/daemon/control/trace_session.h"
#include "runtime/daemon/control/user_quota.h"

const struct scribe_daemon_ops scribe_control_ops = {
	.has_to_say = scribe_clients_waiting,
	.report = scribe_runlink_report,
	.windows_closed = scribe_trace_session_answer,
	.go_on = scribe_runlink_go_on,
	.user_may = scribe_user_may,
};
