/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.c - which rules code is held to, and what the validator says.
 *
 * Trusts the validator for its verdict only: it parses what a model wrote, and may be wrong.
 */
#include "executor/run/policy.h"

#include "executor/options.h"

#include "common/auto.h"
#include "common/bus.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_NOTES = 32, /* findings told of beside the first */
};

static const bool always = true;

static const struct {
	const char *name;
	const bool *enabled;
} profiles[] = {
	{ "strict", &always },
	{ "basic", &always },
	{ "data_science", &options.enable_data_science },
	{ "network", &options.enable_network },
	{ "filesystem", &options.enable_filesystem },
	{ "open", &options.enable_open },
};

static int
check_name(const char *name, size_t size, struct err *e)
{
	for (size_t i = 0; i < COUNT(profiles); i++) {
		if (strlen(profiles[i].name) != size || memcmp(profiles[i].name, name, size) != 0)
			continue;
		if (*profiles[i].enabled)
			return 0;
		return err_set(
		    e, ERR_denied, "profile: %s is switched off on this server", profiles[i].name);
	}
	return err_set(e, ERR_invalid_argument,
	    "profile: \"%.*s\" is none of strict, basic, data_science, network, filesystem, open",
	    (int)(size < 64 ? size : 64), name);
}

int
policy_check_profile(const char *names, struct err *e)
{
	bool open = false;
	size_t count = 0;

	for (const char *name = names;; count++) {
		name += strspn(name, " ");

		size_t size = strcspn(name, " ,");

		if (check_name(name, size, e) < 0)
			return -1;
		open |= size == 4 && memcmp(name, "open", 4) == 0;
		name += size;
		name += strspn(name, " ");
		if (*name == 0)
			break;
		if (*name != ',')
			return err_set(e, ERR_invalid_argument,
			    "profile: join several by commas, as in basic,filesystem");
		name++;
	}
	if (open && count > 0)
		return err_set(e, ERR_invalid_argument,
		    "profile: open has no rules and cannot be joined with others");
	return 0;
}

/* A module, or one below a module, that the operator allows. */
static bool
allowed(const char *module)
{
	for (size_t i = 0; i < options.imports.count; i++) {
		size_t size = strlen(options.imports.items[i]);

		if (strncmp(options.imports.items[i], module, size) == 0 &&
		    (module[size] == 0 || module[size] == '.'))
			return true;
	}
	return options.imports.count == 0;
}

static int
read_imports(struct policy *policy, struct texts *asked, struct err *e)
{
	for (size_t i = 0; i < asked->count; i++)
		if (!allowed(asked->items[i]))
			return err_set(e, ERR_denied,
			    "allowed_imports[%zu]: %.64s is not among the modules of this server",
			    i, asked->items[i]);
	/* An empty list is one: no imports at all. */
	if (asked->items != NULL) {
		policy->imports = *asked;
		*asked = (struct texts){ 0 };
		return 0;
	}
	for (size_t i = 0; i < options.imports.count; i++)
		if (texts_add(&policy->imports, options.imports.items[i]) < 0)
			return err_sys(e, "allowed_imports");
	return 0;
}

int
policy_read(
    struct policy *policy, struct execute_code *ask, const char *session_profile, struct err *e)
{
	const char *name = ask->profile != NULL      ? ask->profile
	                   : session_profile != NULL ? session_profile
	                                             : options.profile;

	if (policy_check_profile(name, e) < 0 || read_imports(policy, &ask->allowed_imports, e) < 0)
		return -1;
	policy->profile = strdup(name);
	return policy->profile != NULL ? 0 : err_sys(e, "profile");
}

void
policy_clear(struct policy *policy)
{
	free(policy->profile);
	texts_clear(&policy->imports);
	*policy = (struct policy){ 0 };
}

bool
policy_restricts(const struct policy *policy)
{
	return policy->imports.items != NULL || strcmp(policy->profile, "open") != 0;
}

uint64_t
policy_ask(const struct policy *policy, unsigned language, const struct blob *code,
    void (*done)(void *self, void *report, const struct err *e), void *self, struct err *e)
{
	struct validate_code request = {
		.code = blob_copy(code->data, code->size),
		.language = (int)language,
		.allowed_imports = policy->imports,
		.profile = policy->profile,
	};

	if (request.code.data == NULL) {
		err_sys(e, "code");
		return 0;
	}

	uint64_t id = bus_ask(
	    &(struct ask){
		.to = PEER_validator,
		.message = MSG_validate_code,
		.request = &request,
		.timeout_ms = (int64_t)options.validator_ms,
		.self = self,
		.done = done,
	    },
	    e);

	blob_clear(&request.code);
	return id;
}

/* ---- the verdict ---- */

static const char syntax_rule[] = "syntax-error"; /* of the validator's rules.def */

static int
note_others(const struct validation_report *report, struct texts *notes, struct err *e)
{
	for (size_t i = 1; i < report->findings.count && i <= MAX_NOTES; i++) {
		const struct finding *f = &report->findings.items[i];
		char line[1200];

		snprintf(
		    line, sizeof line, "line %" PRIu64 ": %s (%s)", f->line, f->message, f->rule);
		if (texts_add(notes, line) < 0)
			return err_sys(e, "notes");
	}
	return 0;
}

int
policy_explain(const struct validation_report *report, struct execution *reply, struct err *e)
{
	static const struct finding none = { 0 };
	const struct finding *f = report->findings.count > 0 ? report->findings.items : &none;
	bool syntax = f->rule != NULL && strcmp(f->rule, syntax_rule) == 0;
	enum err_code code = syntax ? ERR_syntax_error : ERR_policy_violation;

	reply->error = calloc(1, sizeof *reply->error);
	if (reply->error == NULL)
		return err_sys(e, "findings");
	reply->exit_code = -1;
	*reply->error = (struct problem){
		.code = strdup(err_name(code)),
		.message = strdup(f->message != NULL ? f->message : report->validation->message),
		.type = f->rule != NULL ? strdup(f->rule) : NULL,
		.line = f->line,
		.hint = strdup(f->hint != NULL ? f->hint : err_remedy(code)),
	};
	return note_others(report, &reply->notes, e);
}
