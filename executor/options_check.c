/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options_check.c - what follows from the executor's settings.
 *
 * Trusts the operator's values, but not that they are consistent: a default over its own cap is
 * refused at the start instead of at every call.
 */
#include "executor/options.h"

#include "executor/builder/limits/memory.h"
#include "executor/builder/limits/processors.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

enum {
	MIB = 1 << 20,
};

struct texts options_imports, options_url_hosts;

/* The bound for all boxes (builder/limits/cgroup.c).  Even on the smallest machine it suffices
 * for one principal to have a workspace, and for others, too. */
static uint64_t
all_workspaces_mb(void)
{
	uint64_t most = memory_most() / 4 * 3 / MIB, least = 4 * options.workspace_mb;

	return most > least ? most : least;
}

/* Splits a list of the settings. */
static int
split(const char *setting, char *rest, struct texts *to, struct err *e)
{
	char *name;

	while ((name = strsep(&rest, ", ")) != NULL)
		if (*name != 0 && texts_add(to, name) < 0)
			return err_sys(e, "%s", setting);
	return 0;
}

static int
check_lists(struct err *e)
{
	if (split("allowed_imports", options.allowed_imports, &options_imports, e) < 0)
		return -1;
	return split("package_hosts", options.package_hosts, &options_url_hosts, e);
}

static int
check_pair(const char *name, uint64_t value, const char *cap_name, uint64_t cap, struct err *e)
{
	if (value <= cap)
		return 0;
	return err_set(e, ERR_invalid_argument, "%s: %" PRIu64 " is over %s, which is %" PRIu64,
	    name, value, cap_name, cap);
}

static int
check_pairs(struct err *e)
{
#define PAIR(value, cap) \
	{ \
#value, &options.value, #cap, &options.cap \
	}
	static const struct {
		const char *name;
		const uint64_t *value;
		const char *cap_name;
		const uint64_t *cap;
	} pairs[] = {
		PAIR(memory_mb, max_memory_mb),
		PAIR(processes, max_processes),
		PAIR(open_files, max_open_files),
		PAIR(output_bytes, max_output_bytes),
		PAIR(workspace_mb, max_workspace_mb),
		PAIR(workspace_mb, all_workspaces_mb),
		PAIR(workspace_files, max_workspace_files),
		PAIR(session_ttl, max_session_ttl),
	};
#undef PAIR

	for (size_t i = 0; i < COUNT(pairs); i++)
		if (check_pair(
			pairs[i].name, *pairs[i].value, pairs[i].cap_name, *pairs[i].cap, e) < 0)
			return -1;
	return 0;
}

static void
work_out(void)
{
	uint64_t n = processors_whole();

	if (options.max_cpu_cores == 0)
		options.max_cpu_cores = (double)n;
	if (options.cpu_cores == 0)
		options.cpu_cores = options.max_cpu_cores;
	/* If there is a cap, there is a limit. */
	if (options.cpu_seconds == 0)
		options.cpu_seconds = options.max_cpu_seconds;
	if (options.max_concurrent == 0)
		options.max_concurrent = 2 * n;
	if (options.max_concurrent_each == 0)
		options.max_concurrent_each = options.max_concurrent;
	if (options.all_workspaces_mb == 0)
		options.all_workspaces_mb = all_workspaces_mb();
	if (options.session_ttl_minutes != 0)
		options.session_ttl = options.session_ttl_minutes * 60;
}

/* No program can have more open files than this process may.  Reporting that at the start is
 * better than failing each call. */
static void
fit_files(void)
{
	uint64_t *const files[] = { &options.max_open_files, &options.open_files };
	struct rlimit own;

	if (getrlimit(RLIMIT_NOFILE, &own) < 0)
		return;
	for (size_t i = 0; i < COUNT(files); i++) {
		if (*files[i] <= own.rlim_max)
			continue;
		log_warn(i == 0 ? "max_open_files is reduced to this daemon's hard limit of open "
				  "files (LimitNOFILE)"
				: "open_files is reduced to this daemon's hard limit of open files "
				  "(LimitNOFILE)",
		    LOG_N("asked", (int64_t)*files[i]), LOG_N("limit", (int64_t)own.rlim_max));
		*files[i] = own.rlim_max;
	}
}

/* Programs can read the file, so a private key in it is an accident. */
static int
check_ca_file(struct err *e)
{
	static const char begin[] = "-----BEGIN ", certificate[] = "CERTIFICATE-----";
	struct blob text = { 0 };
	const char *at;
	size_t n = 0;

	if (options.ca_file[0] == '\0')
		return 0;
	if (fdio_load_given(options.ca_file, 2 << 20, &text, e) < 0)
		return err_add(e, "ca_file");
	for (at = text.data; (at = strstr(at, begin)) != NULL; n++) {
		at += sizeof begin - 1;
		if (strncmp(at, certificate, sizeof certificate - 1) != 0)
			break;
	}
	free(text.data);
	if (at != NULL)
		return err_set(e, ERR_invalid_argument,
		    "ca_file: %s has something other than certificates, which programs would see",
		    options.ca_file);
	return n > 0 ? 0
	             : err_set(e, ERR_invalid_argument, "ca_file: %s has no certificate in PEM",
			   options.ca_file);
}

int
options_check(struct err *e)
{
	work_out();
	fit_files();
	return check_pairs(e) < 0 || check_lists(e) < 0 ? -1 : check_ca_file(e);
}
