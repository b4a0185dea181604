/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.c - one function for each difference of form that a name alone does not cover.
 *
 * Arguments come from a model, and results contain the output of hostile programs: a value of
 * another kind than expected is left out.
 */
#include "gateway/compat/convert.h"

#include "gateway/compat/count.h"
#include "gateway/compat/place.h"
#include "gateway/mcp/arguments.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/timestamp.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONVERT(name) \
	json_t *convert_##name(__attribute__((unused)) struct compat_call *call, \
	    __attribute__((unused)) const json_t *value, \
	    __attribute__((unused)) const json_t *whole)

static const char own_name[] = "name:"; /* executor/session/session_id.h */

static const char *
text_of(const json_t *value)
{
	const char *text = json_string_value(value);

	return text != NULL ? text : "";
}

static const char *
text_at(const json_t *from, const char *place)
{
	return text_of(place_get(from, place));
}

static bool
is_at(const json_t *from, const char *place, const char *text)
{
	return strcmp(text_at(from, place), text) == 0;
}

/* ---- of any value ---- */

CONVERT(same)
{
	if (json_is_object(value) || json_is_array(value))
		return json_deep_copy(value);
	return json_incref((json_t *)(uintptr_t)value);
}

CONVERT(none)
{
	return NULL;
}

CONVERT(given)
{
	return convert_same(call, value, whole);
}

CONVERT(asked)
{
	return convert_same(call, value, whole);
}

CONVERT(count)
{
	return json_is_array(value) ? json_integer((json_int_t)json_array_size(value)) : NULL;
}

CONVERT(whole)
{
	return json_is_number(value) ? json_integer((json_int_t)(json_number_value(value) + 0.5))
	                             : NULL;
}

static json_t *
time_text(struct timespec at)
{
	char text[TIMESTAMP_TEXT];

	timestamp_text(at, 3, text);
	return json_string(text);
}

CONVERT(now)
{
	return time_text(timestamp_now());
}

/* ---- of arguments ---- */

CONVERT(given_positive)
{
	return json_number_value(value) > 0 ? convert_same(call, value, whole) : NULL;
}

CONVERT(not_default)
{
	const char *text = json_string_value(value);

	return text == NULL || text[0] == '\0' || strcmp(text, "default") == 0
	           ? NULL
	           : convert_same(call, value, whole);
}

/* The first value in the call's own fields, the others in `more`. */
CONVERT(members)
{
	json_t *more = json_array(), *member;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)value, key, member)
	{
		json_t *named =
		    json_object_size(call->ours) > 0 && json_object_get(call->ours, "key") != NULL
			? json_object()
			: json_incref(call->ours);

		json_object_set_new(named, "key", json_string(key));
		json_object_set(named, "data", member);
		if (named != call->ours)
			json_array_append(more, named);
		json_decref(named);
	}
	json_object_set_new(call->ours, "more", more);
	return NULL;
}

char *
convert_session_id(const char *id)
{
	char instance[64], *ours;
	bool given = arguments_instance("sess_", id, instance, sizeof instance);

	return asprintf(&ours, "%s%s", given ? "" : own_name, id) < 0 ? NULL : ours;
}

CONVERT(session)
{
	auto_free char *ours = json_is_string(value) ? convert_session_id(text_of(value)) : NULL;

	return ours == NULL ? convert_same(call, value, whole) : json_string(ours);
}

CONVERT(session_or_new)
{
	char hex[12 + 1];

	if (json_is_string(value))
		return convert_session(call, value, whole);
	hash_random_hex(hex, sizeof hex);
	return json_sprintf("%ssess_%s", own_name, hex);
}

/* ---- of runs ---- */

/* An empty program is one that does nothing. */
CONVERT(program)
{
	return *text_of(value) == '\0' && json_is_string(value) ? json_string("\n")
	                                                        : convert_same(call, value, whole);
}

static bool
is_syntax_error(const json_t *result)
{
	return is_at(result, "error.code", "syntax_error") ||
	       is_at(result, "error.type", "SyntaxError");
}

CONVERT(validation)
{
	json_t *issue;

	if (!is_syntax_error(whole))
		return NULL;
	issue = json_pack("{s:I, s:i, s:o, s:s}", "line",
	    json_integer_value(place_get(whole, "error.line")), "col", 0, "message",
	    json_sprintf("SyntaxError: %s", text_at(whole, "error.message")), "severity", "error");
	return json_pack("{s:{s:b, s:s, s:[o], s:[], s:s}}", "validation", "valid", 0, "verdict",
	    "reject", "issues", issue, "fixes_applied", "language", text_at(whole, "language"));
}

static json_t *
notes_about(const json_t *whole, const char *subject)
{
	json_t *found = NULL, *note;
	size_t i;

	json_array_foreach(place_get(whole, "notes"), i, note)
	{
		if (strncmp(text_of(note), subject, strlen(subject)) != 0)
			continue;

		json_t *longer = found == NULL
		                     ? json_incref(note)
		                     : json_sprintf("%s %s", text_of(found), text_of(note));

		json_decref(found);
		found = longer;
	}
	return found;
}

CONVERT(left_out)
{
	return notes_about(whole, "allowed_domains:");
}

CONVERT(unset)
{
	return notes_about(whole, "secrets:");
}

/* Of the caller; otherwise the one that ended the run, to a second. */
static double
time_limit(const struct compat_call *call, const json_t *result)
{
	static const char *const names[] = { "timeout", "timeout_sec", "timeout_s" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (json_is_number(place_get(call->ours, names[i])))
			return json_number_value(place_get(call->ours, names[i]));
	return (
	    double)(int64_t)(json_number_value(place_get(result, "usage.wall_ms")) / 1000 + 0.5);
}

static json_t *
with_line(const json_t *text, const char *line)
{
	size_t size = json_string_length(text);
	const char *old = size > 0 ? json_string_value(text) : "";

	return json_sprintf("%s%s%s", old, size > 0 && old[size - 1] != '\n' ? "\n" : "", line);
}

/* By something that its own stderr does not say, such as a limit. */
static bool
is_ended(const json_t *result)
{
	const json_t *error = json_object_get(result, "error");

	return error != NULL && json_object_get(error, "type") == NULL &&
	       !is_at(error, "code", "program_failed");
}

CONVERT(outcome)
{
	const json_t *issues = place_get(whole, "metadata.validation.issues");
	char line[600];

	if (json_is_true(json_object_get(whole, "timed_out"))) {
		snprintf(
		    line, sizeof line, "Execution timed out after %gs", time_limit(call, whole));
		return with_line(value, line);
	}
	if (issues == NULL && is_ended(whole))
		return with_line(value, text_at(whole, "error.message"));
	if (issues == NULL)
		return convert_same(call, value, whole);
	issues = json_array_get(issues, 0);
	snprintf(line, sizeof line,
	    "Validation failed: [REJECT] 1 issue(s)\n  L%" JSON_INTEGER_FORMAT ": %.500s",
	    json_integer_value(json_object_get(issues, "line")), text_at(issues, "message"));
	return with_line(value, line);
}

static bool
is_import(const json_t *problem)
{
	return is_at(problem, "type", "ImportError") ||
	       is_at(problem, "type", "ModuleNotFoundError") ||
	       strncmp(text_at(problem, "message"), "Import", 6) == 0;
}

CONVERT(blocked_import)
{
	return is_import(value) ? json_string("blocked_import") : NULL;
}

CONVERT(refused)
{
	bool refused =
	    is_at(value, "code", "policy_violation") || is_at(value, "code", "syntax_error");

	return refused ? json_pack("[s]", text_at(value, "message")) : NULL;
}

CONVERT(traceback)
{
	const json_t *problem = json_object_get(whole, "problem");

	if (json_object_get(problem, "type") == NULL || is_import(problem))
		return NULL;
	return convert_same(call, json_object_get(whole, "stderr"), whole);
}

CONVERT(error_text)
{
	if (json_is_true(json_object_get(whole, "timed_out")))
		return json_sprintf(
		    "Execution timed out after %g seconds", time_limit(call, whole));
	return convert_same(call, place_get(whole, "problem.message"), whole);
}

/* ---- of sessions and files ---- */

CONVERT(session_name)
{
	const char *id = text_at(call->ours, "session_id");

	if (strncmp(id, own_name, sizeof own_name - 1) == 0)
		return json_string(id + sizeof own_name - 1);
	return convert_same(call, value, whole);
}

CONVERT(installed)
{
	size_t i;
	json_t *package, *text = json_string("Installed");

	json_array_foreach(json_object_get(whole, "packages"), i, package)
	{
		json_t *longer = json_sprintf("%s%s %s %s", text_of(text), i > 0 ? "," : "",
		    text_at(package, "name"), text_at(package, "version"));

		json_decref(text);
		text = longer;
	}

	json_t *all =
	    json_sprintf("%s for session_id %s", text_of(text), text_at(whole, "session_id"));

	json_decref(text);
	return all;
}

CONVERT(status)
{
	return json_string(json_is_true(value) ? "running" : "idle");
}

CONVERT(mounted)
{
	static const char box[] = "/workspace";
	const char *path = json_string_value(value);

	if (path == NULL || strncmp(path, box, sizeof box - 1) != 0)
		return convert_same(call, value, whole);
	return json_sprintf("/mnt/data%s", path + sizeof box - 1);
}

CONVERT(base_name)
{
	const char *path = json_string_value(value);
	const char *slash = path == NULL ? NULL : strrchr(path, '/');

	return slash == NULL ? convert_same(call, value, whole) : json_string(slash + 1);
}

/* ---- of audit records ---- */

CONVERT(time_of_ms)
{
	int64_t ms = json_integer_value(value);

	return time_text(
	    (struct timespec){ .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 });
}

CONVERT(action)
{
	static const struct {
		const char *event, *action;
	} actions[] = {
		{ "execution.completed", "execute" },
		{ "execution.failed", "execute" },
		{ "execution.timeout", "timeout" },
		{ "session.created", "create_session" },
		{ "session.killed", "kill_session" },
		{ "policy.violation", "validation_failed" },
		{ "resource.exceeded", "resource_exceeded" },
		{ "artifact.signed", "artifact_signed" },
	};
	const char *event = json_string_value(value);

	for (size_t i = 0; event != NULL && i < COUNT(actions); i++)
		if (strcmp(actions[i].event, event) == 0)
			return json_string(actions[i].action);
	return convert_same(call, value, whole);
}

CONVERT(no_value)
{
	return value != NULL ? json_false() : NULL;
}

CONVERT(one)
{
	return value != NULL ? json_integer(1) : NULL;
}

/* ---- of checks of code ---- */

/* "Line 3: what is wrong", or advice about all of the code. */
static json_t *
warning_of(const char *advice)
{
	char *end = NULL;
	json_int_t line = strncmp(advice, "Line ", 5) == 0 ? strtoll(advice + 5, &end, 10) : 0;
	const char *said = end != NULL && strncmp(end, ": ", 2) == 0 ? end + 2 : advice;

	return json_pack(
	    "{s:I, s:i, s:s, s:s}", "line", line, "col", 0, "message", said, "severity", "warning");
}

CONVERT(with_warnings)
{
	json_t *issues = json_copy(json_object_get(whole, "issues")), *advice;
	size_t i;

	json_array_foreach(value, i, advice)
	    json_array_append_new(issues, warning_of(text_of(advice)));
	return issues;
}

CONVERT(messages)
{
	json_t *list = json_array(), *item;
	size_t i;

	json_array_foreach(value, i, item)
	    json_array_append(list, json_object_get(item, "message"));
	return list;
}

CONVERT(verdict)
{
	if (json_is_false(json_object_get(whole, "valid")))
		return json_string("reject");
	return json_array_size(json_object_get(whole, "fixes_applied")) > 0 ? json_string("fixed")
	                                                                    : NULL;
}

CONVERT(fixed_code)
{
	const json_t *fixed = json_object_get(whole, "fixed_code");

	return convert_same(
	    call, fixed != NULL ? fixed : json_object_get(call->asked, "code"), whole);
}

/* The finding about syntax, or NULL. */
static const json_t *
syntax_of(const json_t *findings)
{
	const json_t *first = json_array_get(findings, 0);

	return is_at(first, "rule", "syntax-error") ? first : NULL;
}

CONVERT(syntax_text)
{
	const json_t *finding = syntax_of(value);

	return finding == NULL ? NULL
	                       : json_sprintf("Syntax error: %s (line %" JSON_INTEGER_FORMAT ")",
				     text_at(finding, "message"),
				     json_integer_value(json_object_get(finding, "line")));
}

CONVERT(syntax_line)
{
	return convert_same(call, json_object_get(syntax_of(value), "line"), whole);
}

CONVERT(syntax_offset)
{
	return convert_same(call, json_object_get(syntax_of(value), "column"), whole);
}

CONVERT(syntax_source)
{
	json_int_t line = json_integer_value(json_object_get(syntax_of(value), "line"));
	const char *at = text_at(call->asked, "code");

	while (line-- > 1 && *at != '\0') {
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	return syntax_of(value) == NULL ? NULL : json_stringn(at, strcspn(at, "\n"));
}

CONVERT(security_issues)
{
	if (json_is_true(json_object_get(whole, "valid")) ||
	    syntax_of(json_object_get(whole, "findings")) != NULL)
		return NULL;
	return convert_same(call, place_get(whole, "validation.errors"), whole);
}

/* ---- of descriptions ---- */

CONVERT(count_all)
{
	json_t *list;
	const char *key;
	size_t n = 0;

	json_object_foreach((json_t *)(uintptr_t)value, key, list) n += json_array_size(list);
	return json_integer((json_int_t)n);
}

CONVERT(memory)
{
	struct mallinfo2 info = mallinfo2();

	const size_t heap = info.arena + info.hblkhd, used = info.uordblks + info.hblkhd;

	return json_pack("{s:I, s:I, s:o}", "heap_bytes", (json_int_t)heap, "used_bytes",
	    (json_int_t)used, "programs", count_memory());
}

CONVERT(cpu)
{
	struct timespec used;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) < 0)
		return NULL;
	return json_pack("{s:f, s:o}", "seconds", (double)used.tv_sec + (double)used.tv_nsec / 1e9,
	    "programs", count_cpu());
}

CONVERT(tools)
{
	return count_tools();
}
