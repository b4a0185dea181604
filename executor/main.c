/* SPDX-License-Identifier: Apache-2.0 */
/*
 * executor - runs code: queues runs, applies rules and limits, assigns workspaces, returns
 * results.
 *
 * It trusts the gateway only for the identity of the caller, the builder to carry out its orders,
 * and the validator and snapshotd only for their answers.  It trusts nothing that comes out of a
 * box: output, results, names and contents of files come from a hostile program.  It holds what no
 * other daemon may have: the queue, the sessions, and the connection to the builder.  The builder
 * is the only process that can make a box, and therefore runs outside this jail.
 */
#include "executor/builder/launch/environment.h"
#include "executor/builder/order.h"
#include "executor/builder/trust.h"
#include "executor/environment.h"
#include "executor/gauges.h"
#include "executor/inquiry.h"
#include "executor/kept/change.h"
#include "executor/kept/code.h"
#include "executor/kept/consent.h"
#include "executor/kept/output.h"
#include "executor/kept/task.h"
#include "executor/metrics.h"
#include "executor/options.h"
#include "executor/packages/lock.h"
#include "executor/packages/package.h"
#include "executor/run/check/policy.h"
#include "executor/run/container.h"
#include "executor/run/day_use.h"
#include "executor/run/limits.h"
#include "executor/run/network/domains.h"
#include "executor/run/network/index_hosts.h"
#include "executor/run/network/user_base.h"
#include "executor/run/own_limits.h"
#include "executor/run/pool.h"
#include "executor/run/queue.h"
#include "executor/run/run.h"
#include "executor/runtime.h"
#include "executor/sandbox/box.h"
#include "executor/sandbox/builder.h"
#include "executor/sandbox/isolation.h"
#include "executor/session/artifact.h"
#include "executor/session/ledger.h"
#include "executor/session/resume.h"
#include "executor/session/share.h"
#include "executor/session/sign.h"
#include "executor/session/snapshot/snapshot.h"
#include "executor/tools/check_tools.h"
#include "executor/tools/info.h"
#include "executor/tools/inspect.h"
#include "executor/tools/limits_tools.h"
#include "executor/tools/package_tools.h"
#include "executor/tools/run_tools.h"
#include "executor/tools/sandbox_info.h"
#include "executor/tools/schema_tools.h"
#include "executor/tools/session_tools.h"
#include "executor/tools/table_tools.h"

#include "common/base/work.h"
#include "common/daemon/daemon.h"
#include "common/rights/rights.h"

#define SYSCALLS "executor/syscalls.def"
#include "common/daemon/own_syscalls.h"

#include <jansson.h>

static int
open_builder(const struct texts *arguments, struct err *e)
{
	resume_open();
	return builder_open(arguments, options.builder_ms, e) < 0 || builder_require(e) < 0 ||
	               resume_prepare(e) < 0
	           ? -1
	           : 0;
}

/* The directory where the builder may record its slot (builder/slot.h). */
static int
state_argument(struct texts *arguments, struct err *e)
{
	const char *state = daemon_state_root();

	if (state != NULL && (texts_add(arguments, "state") < 0 ||
				 texts_add(arguments, state) < 0 || texts_add(arguments, "--") < 0))
		return err_sys(e, "arguments of the builder");
	return 0;
}

static int
cgroup_argument(struct texts *arguments, struct err *e)
{
	if (options.own_cgroup &&
	    (texts_add(arguments, "cgroup") < 0 || texts_add(arguments, "own") < 0 ||
		texts_add(arguments, "--") < 0))
		return err_sys(e, "arguments of the builder");
	return 0;
}

static int
loopback_argument(struct texts *arguments, struct err *e)
{
	if (options.loopback &&
	    (texts_add(arguments, "loopback") < 0 || texts_add(arguments, "--") < 0))
		return err_sys(e, "arguments of the builder");
	return 0;
}

/* inspect_state reports the environment of programs. */
static int
ca_argument(struct texts *arguments, struct err *e)
{
	const char *ca_file = options.ca_file[0] != '\0' ? options.ca_file : NULL;
	struct trust trust;

	if (trust_load(ca_file, &trust, e) < 0)
		return -1;
	environment_trust(trust.added.size > 0);
	trust_clear(&trust);
	if (ca_file != NULL &&
	    (texts_add(arguments, "ca") < 0 || texts_add(arguments, options.ca_file) < 0 ||
		texts_add(arguments, "--") < 0))
		return err_sys(e, "arguments of the builder");
	return 0;
}

static int
open_languages(struct err *e)
{
	if (runtime_open(e) < 0)
		return -1;
	environment_open(daemon_state_root());
	inquiry_open();
	return 0;
}

static int
open_all(struct err *e)
{
	struct texts arguments = { 0 };
	int status = -1;

	/* Opens /dev/urandom, or asks for the time.  Without this, the first object would do so in
	 * the jail, which lists no call for the time of a machine without a vDSO clock. */
	json_object_seed(0);

	/* If programs run as this user, descriptors that they have in flight count towards this
	 * process's limit, so that is higher. */
	daemon_files(options.max_open_files + options.max_sessions * CGROUP_USES);

	if (options_check(e) == 0 && limits_settle(e) == 0 &&
	    rights_open(options.policies, daemon_state_root(), e) == 0 && share_settle(e) == 0 &&
	    policy_check_profile(options.profile, language_python, e) == 0 &&
	    index_hosts_settle("", e) == 0 && domains_settle(e) == 0 && user_base_settle(e) == 0 &&
	    open_languages(e) == 0 && sign_open(e) == 0 &&
	    isolation_demand(options.require_layers, &arguments, e) == 0 &&
	    container_open(e) == 0 && pool_arguments(&arguments, e) == 0 &&
	    container_arguments(&arguments, e) == 0 && state_argument(&arguments, e) == 0 &&
	    cgroup_argument(&arguments, e) == 0 && loopback_argument(&arguments, e) == 0 &&
	    ca_argument(&arguments, e) == 0)
		status = open_builder(&arguments, e);
	texts_clear(&arguments);
	return status;
}

static int
start(struct err *e)
{
	if (session_id_open(e) < 0 || sign_start(e) < 0 || builder_start(e) < 0)
		return -1;
	task_open(daemon_state());
	code_open(daemon_state());
	day_use_open(daemon_state());
	change_open();
	consent_open();
	resume_start();
	pool_start();
	return 0;
}

static void
stop(void)
{
	work_close();
	task_close();
	change_close();
	run_end_all();
	pool_stop();
	if (!resume_keeps())
		session_end_all();
	lock_forget();
	package_forget();
	own_limits_forget();
	share_forget();
	builder_stop();
	day_use_close();
	rights_close();
}

static const struct route routes[] = {
	{ MSG_execute_code, FROM(gateway), run_tools_on_execute_code },
	{ MSG_run_sandbox_code, FROM(gateway), run_tools_on_run_sandbox_code },
	{ MSG_sandbox_run_python, FROM(gateway), run_tools_on_sandbox_run_python },
	{ MSG_install_package, FROM(gateway), package_tools_on_install_package },
	{ MSG_create_session, FROM(gateway), session_tools_on_create_session },
	{ MSG_terminate_session, FROM(gateway), session_tools_on_terminate_session },
	{ MSG_sandbox_close_session, FROM(gateway), session_tools_on_sandbox_close_session },
	{ MSG_bridge_data, FROM(gateway), session_tools_on_bridge_data },
	{ MSG_sandbox_upload_file, FROM(gateway), artifact_on_sandbox_upload_file },
	{ MSG_sandbox_read_artifact, FROM(gateway), artifact_on_sandbox_read_artifact },
	{ MSG_sandbox_list_artifacts, FROM(gateway), artifact_on_sandbox_list_artifacts },
	{ MSG_get_artifacts, FROM(gateway), ledger_on_get_artifacts },
	{ MSG_create_state_snapshot, FROM(gateway), snapshot_take_on_create_state_snapshot },
	{ MSG_restore_state_snapshot, FROM(gateway), snapshot_restore_on_restore_state_snapshot },
	{ MSG_describe_state_snapshot, FROM(gateway), snapshot_show_on_describe_state_snapshot },
	{ MSG_list_state_snapshots, FROM(gateway), snapshot_on_list_state_snapshots },
	{ MSG_delete_state_snapshot, FROM(gateway), snapshot_on_delete_state_snapshot },
	{ MSG_register_schema, FROM(gateway), schema_tools_on_register_schema },
	{ MSG_list_schemas, FROM(gateway), schema_tools_on_list_schemas },
	{ MSG_get_schema, FROM(gateway), schema_tools_on_get_schema },
	{ MSG_remove_schema, FROM(gateway), schema_tools_on_remove_schema },
	{ MSG_list_runtimes, FROM(gateway), info_on_list_runtimes },
	{ MSG_get_sandbox_info, FROM(gateway), sandbox_info_on_get_sandbox_info },
	{ MSG_sandbox_stats, FROM(gateway), info_on_sandbox_stats },
	{ MSG_inspect_state, FROM(gateway), inspect_on_inspect_state },
	{ MSG_validate_code, FROM(gateway), check_tools_on_validate_code },
	{ MSG_validate_csv_data, FROM(gateway), table_tools_on_validate_csv_data },
	{ MSG_set_resource_limits, FROM(gateway), limits_tools_on_set_resource_limits },
	{ MSG_await_changes, FROM(gateway), change_on_await_changes },
	{ MSG_cancel_task, FROM(gateway), task_on_cancel_task },
	{ MSG_get_output, FROM(gateway), output_on_get_output },
	{ MSG_keep_output, FROM(gateway), output_on_keep_output },
	{ MSG_get_task, FROM(gateway), task_on_get_task },
	{ MSG_keep_task, FROM(gateway), task_on_keep_task },
	{ MSG_spend_consent, FROM(gateway), consent_on_spend_consent },
	{ 0 },
};

/* Ends the waiting requests for changes, which do not delay the exit. */
static size_t
drain(void)
{
	change_close();
	return 0;
}

static const struct daemon self = {
	.self = PEER_executor,
	.settings = options_table,
	.routes = routes,
	.syscalls = syscalls,
	.refused = refused,
	.open = open_all,
	.start = start,
	.stop = stop,
	.drain = drain,
	.load = queue_load,
	.replies = change_of_reply,
	.metrics = metrics_rows,
	.nmetrics = METRICS_COUNT,
	.measure = gauges_measure,
	.fault = builder_refused,
};

int
main(int argc, char **argv)
{
	return daemon_main(argc, argv, &self);
}
