/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.c - converts requested limits, never beyond the operator's caps.
 *
 * The schema has bounded the request.  A limit over its cap is refused by name, with the cap, and
 * never silently reduced.
 */
#include "executor/run/limits.h"

#include "executor/options.h"

#include "common/base/auto.h"
#include "common/table/settings.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A requested number: its field, its destination, and its unit. */
static const struct rule {
	const char *field;
	size_t asked, to;
	uint64_t unit, low;
	const uint64_t *cap; /* in multiples of unit */
} rules[] = {
#define RULE(f, target, unit, low, cap) \
	{ \
#f, offsetof(struct resource_limits, f), offsetof(struct limits, target), unit, \
		    low, &options.cap \
	}
	RULE(max_ram_mb, box.memory_bytes, LIMITS_MIB, LIMITS_MIN_MEMORY / LIMITS_MIB,
	    max_memory_mb),
	RULE(max_processes, box.processes, 1, 1, max_processes),
	RULE(max_output_bytes, box.output_bytes, 1, 1, max_output_bytes),
	RULE(max_open_files, box.open_files, 1, 16, max_open_files),
	RULE(max_disk_mb, room.bytes, LIMITS_MIB, 1, max_workspace_mb),
	RULE(max_files, room.files, 1, 16, max_workspace_files),
#undef RULE
};

static int
ask_number(
    struct limits *limits, const struct rule *r, const char *prefix, uint64_t asked, struct err *e)
{
	if (asked == 0)
		return 0;
	if (asked > *r->cap)
		return err_set(e, ERR_limit_exceeded,
		    "%s%s: %" PRIu64 " is over this server's limit of %" PRIu64, prefix, r->field,
		    asked, *r->cap);
	if (asked < r->low)
		return err_set(e, ERR_invalid_argument,
		    "%s%s: %" PRIu64 " is below the minimum of %" PRIu64, prefix, r->field, asked,
		    r->low);
	*(uint64_t *)((char *)limits + r->to) = asked * r->unit;
	return 0;
}

static int
ask_cores(struct limits *limits, const char *prefix, double cores, struct err *e)
{
	if (cores == 0)
		return 0;
	if (cores > options.max_cpu_cores)
		return err_set(e, ERR_limit_exceeded,
		    "%smax_cpu_cores: %g is over this server's limit of %g", prefix, cores,
		    options.max_cpu_cores);
	if (cores < 0.01)
		return err_set(e, ERR_invalid_argument,
		    "%smax_cpu_cores: %g is below the minimum of 0.01", prefix, cores);
	limits->box.cpu_milli = (uint64_t)(cores * 1000 + 0.5);
	return 0;
}

static int
ask_processor_time(struct limits *limits, const char *prefix, double seconds, struct err *e)
{
	if (seconds == 0)
		return 0;
	if (!(seconds > 0))
		return err_set(e, ERR_invalid_argument,
		    "%smax_cpu_seconds: must be positive, not %g", prefix, seconds);
	if (options.max_cpu_seconds > 0 && seconds > options.max_cpu_seconds)
		return err_set(e, ERR_limit_exceeded,
		    "%smax_cpu_seconds: %g s is over this server's limit of %g s", prefix, seconds,
		    options.max_cpu_seconds);

	uint64_t ms = (uint64_t)(seconds * 1000);

	limits->box.cpu_ms = ms > 0 ? ms : 1;
	return 0;
}

int
limits_ask_seconds(struct limits *limits, const char *field, double seconds, struct err *e)
{
	if (seconds == 0)
		return 0;
	if (!(seconds > 0))
		return err_set(
		    e, ERR_invalid_argument, "%s: must be positive, not %g", field, seconds);
	if (seconds > options.max_timeout)
		return err_set(e, ERR_limit_exceeded,
		    "%s: %g s is over this server's limit of %g s", field, seconds,
		    options.max_timeout);

	uint64_t ms = (uint64_t)(seconds * 1000);

	limits->box.wall_ms = ms > 0 ? ms : 1;
	limits->timed = 1;
	return 0;
}

void
limits_usual(struct limits *limits, double seconds, uint64_t output_bytes)
{
	if (limits->timed == 0 && seconds > 0)
		limits->box.wall_ms =
		    (uint64_t)(1000 *
			       (seconds < options.max_timeout ? seconds : options.max_timeout));
	if (output_bytes > 0 && output_bytes < options.max_output_bytes &&
	    !settings_given("output_bytes") &&
	    limits->box.output_bytes == limits_default.box.output_bytes)
		limits->box.output_bytes = output_bytes;
}

int
limits_bytes(const char *field, const char *text, uint64_t *bytes, struct err *e)
{
	static const struct {
		const char *word;
		unsigned shift;
	} units[] = { { "", 0 }, { "b", 0 }, { "k", 10 }, { "kb", 10 }, { "kib", 10 }, { "m", 20 },
		{ "mb", 20 }, { "mib", 20 }, { "g", 30 }, { "gb", 30 }, { "gib", 30 } };
	char *end = NULL;
	/* 12 digits are a terabyte and leave room for the shift. */
	uint64_t n = isdigit((unsigned char)text[0]) ? strtoull(text, &end, 10) : 0;

	for (size_t i = 0; end != NULL && end - text <= 12 && i < COUNT(units); i++) {
		if (strcasecmp(end, units[i].word) != 0 || n >> (63 - units[i].shift) != 0)
			continue;
		*bytes = n << units[i].shift;
		return 0;
	}
	return err_set(e, ERR_invalid_argument,
	    "%s: must be a number with an optional unit k, m or g, such as 512m, not \"%.16s\"",
	    field, text);
}

int
limits_ask_memory(struct limits *limits, const char *field, const char *text, struct err *e)
{
	uint64_t bytes = 0;

	if (text == NULL)
		return 0;
	if (limits_bytes(field, text, &bytes, e) < 0)
		return -1;
	if (bytes > options.max_memory_mb * LIMITS_MIB)
		return err_set(e, ERR_limit_exceeded,
		    "%s: %.16s is over this server's limit of %" PRIu64 "m", field, text,
		    options.max_memory_mb);
	if (bytes < LIMITS_MIN_MEMORY)
		return err_set(e, ERR_invalid_argument, "%s: %.16s is below the minimum of %dm",
		    field, text, LIMITS_MIN_MEMORY / LIMITS_MIB);
	limits->box.memory_bytes = bytes;
	return 0;
}

int
limits_ask(
    struct limits *limits, const char *prefix, const struct resource_limits *asked, struct err *e)
{
	char field[64];

	if (asked == NULL)
		return 0;
	for (const struct rule *r = rules; r < rules + COUNT(rules); r++) {
		uint64_t n = *(const uint64_t *)((const char *)asked + r->asked);

		if (ask_number(limits, r, prefix, n, e) < 0)
			return -1;
	}
	snprintf(field, sizeof field, "%stimeout_seconds", prefix);
	if (ask_cores(limits, prefix, asked->max_cpu_cores, e) < 0 ||
	    ask_processor_time(limits, prefix, asked->max_cpu_seconds, e) < 0)
		return -1;
	return limits_ask_seconds(limits, field, asked->timeout_seconds, e);
}

void
limits_tell(const struct limits *limits, struct resource_limits *reply)
{
	*reply = (struct resource_limits){
		.max_cpu_cores = (double)limits->box.cpu_milli / 1000,
		.max_cpu_seconds = (double)limits->box.cpu_ms / 1000,
		.timeout_seconds = (double)limits->box.wall_ms / 1000,
	};
	for (const struct rule *r = rules; r < rules + COUNT(rules); r++)
		*(uint64_t *)((char *)reply + r->asked) =
		    *(const uint64_t *)((const char *)limits + r->to) / r->unit;
}

struct limits limits_default;

int
limits_settle(struct err *e)
{
	const char *memory = options.memory_limit[0] != 0 ? options.memory_limit : NULL;
	const struct resource_limits cores = {
		.max_cpu_cores = options.cpu_cores,
		.max_cpu_seconds = options.cpu_seconds,
	};
	struct limits *limits = &limits_default;

	*limits = (struct limits){
		.box.memory_bytes = options.memory_mb * LIMITS_MIB,
		.box.processes = options.processes,
		.box.open_files = options.open_files,
		.box.tmp_bytes = options.tmp_bytes,
		.box.output_bytes = options.output_bytes,
		.room = { options.workspace_mb * LIMITS_MIB, options.workspace_files },
	};
	if (limits_ask_memory(limits, "memory_limit", memory, e) < 0 ||
	    limits_ask(limits, "default ", &cores, e) < 0)
		return -1;
	if (limits_ask_seconds(limits, "default_timeout", options.default_timeout, e) < 0)
		return -1;
	limits->timed = settings_given("default_timeout");
	return 0;
}
