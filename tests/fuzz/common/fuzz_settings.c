/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_settings.c - a settings file as an operator, or a program that writes them, may leave it.
 *
 * Input: the YAML text.  What is taken is within the bounds of its row, and written down as YAML by
 * what was understood it is taken again as the same; what is refused is refused in words.
 */
#include "common/table/settings.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct values {
	char *config, *name;
	uint64_t most;
	double share;
	bool loud;
};

/* What the flat keys of replaced.def stand for: settings that the executor has. */
struct replaced {
	char *container, *memory;
	uint64_t max_concurrent, processes, memory_mb;
	double cores, timeout;
};

static struct values v;
static struct replaced r;

static const struct setting common[] = {
	{ "config", KIND_TEXT, &v.config, "", 0, 200, NULL, "YAML file." },
	{ 0 },
};

static const struct setting own[] = {
	{ "name", KIND_TEXT, &v.name, "nobody", 1, 8, NULL, "Who." },
	{ "max_open", KIND_UINT, &v.most, "4", 1, 100, NULL, "How many." },
	{ "share", KIND_REAL, &v.share, "0.5", 0, 2, NULL, "How much." },
	{ "loud", KIND_FLAG, &v.loud, "false", 0, 1, NULL, "Is it loud?" },
	{ "container", KIND_TEXT, &r.container, "", 0, 64, NULL, "default_backend." },
	{ "memory_limit", KIND_TEXT, &r.memory, "", 0, 64, NULL, "memory_limit." },
	{ "max_concurrent", KIND_UINT, &r.max_concurrent, "4", 1, 64, NULL,
	    "max_concurrent_jobs." },
	{ "processes", KIND_UINT, &r.processes, "64", 1, 1000, NULL, "max_processes." },
	{ "memory_mb", KIND_UINT, &r.memory_mb, "64", 1, 1000, NULL, "max_ram_mb." },
	{ "cpu_cores", KIND_REAL, &r.cores, "1", 0, 64, NULL, "max_cpu_cores." },
	{ "default_timeout", KIND_REAL, &r.timeout, "30", 0, 1000, NULL, "timeout_seconds." },
	{ 0 },
};

static int
take(const void *data, size_t size, struct err *e)
{
	auto_fd int fd = memfd_create("settings", MFD_CLOEXEC);
	char flag[64];

	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(flag, sizeof flag, "--config=/proc/self/fd/%d", fd);
	return settings_read("executor", common, own, 2, (char *[]){ flag, flag, NULL }, e);
}

static void
forget(void)
{
	free(v.config);
	free(v.name);
	free(r.container);
	free(r.memory);
	memset(&v, 0, sizeof v);
	memset(&r, 0, sizeof r);
}

static void
check_bounds(void)
{
	must(strlen(v.name) >= 1 && strlen(v.name) <= 8);
	must(v.most >= 1 && v.most <= 100);
	must(v.share >= 0 && v.share <= 2);
	must(r.processes >= 1 && r.processes <= 1000);
	must(r.cores >= 0 && r.cores <= 64);
}

static void
check_again(void)
{
	struct values before = v;
	auto_free char *text = NULL;
	char quoted[64] = "";
	struct err e;

	for (const char *c = before.name; *c != '\0'; c++)
		sprintf(quoted + strlen(quoted), isalnum((unsigned char)*c) ? "%c" : "\\x%02x", *c);
	must(asprintf(&text,
		 "executor: {name: \"%s\", max_open: %" PRIu64 ", share: %.17g, loud: %s}", quoted,
		 before.most, before.share, before.loud ? "yes" : "no") > 0);
	v = (struct values){ 0 };
	free(r.container);
	free(r.memory);
	r = (struct replaced){ 0 };
	must(take(text, strlen(text), &e) == 0);
	must(strcmp(v.name, before.name) == 0);
	must(v.most == before.most && v.loud == before.loud && fabs(v.share - before.share) == 0);
	forget();
	v = before;
}

static bool
is_ascii(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text >= 128)
			return false;
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = { 0 };

	if (take(data, size, &e) == 0) {
		check_bounds();
		must(utf8_valid(v.name, strlen(v.name)));
		if (is_ascii(v.name))
			check_again();
	} else {
		must(e.code == ERR_invalid_argument && *e.text != '\0');
	}
	forget();
	return 0;
}
