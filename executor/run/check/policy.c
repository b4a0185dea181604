/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.c - selects the rules for code and asks the validator.
 *
 * Trusts the validator only for its verdict: it parses hostile code and may be wrong.
 */
#include "executor/run/check/policy.h"

#include "executor/options.h"
#include "executor/run/check/check.h"
#include "executor/runtime.h"

#include "common/base/auto.h"
#include "common/bus/bus.h"
#include "common/table/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_NOTES = 32, /* findings reported in addition to the first */
};

/* The profiles that the operator can disable. */
static const bool *const switches[PROFILE_COUNT] = {
	[PROFILE_data_science] = &options.enable_data_science,
	[PROFILE_network] = &options.enable_network,
	[PROFILE_filesystem] = &options.enable_filesystem,
	[PROFILE_open] = &options.enable_open,
};

bool
policy_is_enabled(enum profile profile)
{
	return switches[profile] == NULL || *switches[profile];
}

static const char *const names_of_switches[PROFILE_COUNT] = {
	[PROFILE_data_science] = "enable_data_science",
	[PROFILE_network] = "enable_network",
	[PROFILE_filesystem] = "enable_filesystem",
};

bool
policy_is_named(enum profile profile)
{
	return profile == PROFILE_basic ||
	       (names_of_switches[profile] != NULL && settings_given(names_of_switches[profile]) &&
		   *switches[profile]);
}

/* Lists of modules, the caller's or the operator's, say all that there is to say. */
static const char *
named_profiles(const struct execute_code *ask, char all[PROFILE_TITLE])
{
	size_t used = 0;

	if (ask->allowed_imports.items != NULL || options_imports.count > 0 ||
	    settings_given("profile"))
		return options.profile;
	for (enum profile profile = 0; profile < PROFILE_COUNT && used < PROFILE_TITLE; profile++)
		if (policy_is_named(profile))
			used += (size_t)snprintf(all + used, PROFILE_TITLE - used, "%s%s",
			    used == 0 ? "" : ",", profile_name(profile));
	return all;
}

static int
refuse_profile(enum profile refused, struct err *e)
{
	char enabled[PROFILE_TITLE];
	size_t used = 0;

	for (enum profile profile = 0; profile < PROFILE_COUNT && used < sizeof enabled; profile++)
		if (policy_is_enabled(profile))
			used += (size_t)snprintf(enabled + used, sizeof enabled - used, "%s%s",
			    used == 0 ? "" : ", ", profile_name(profile));
	return err_set(e, ERR_denied,
	    "profile: %s is not enabled on this server; use %s, or have the operator set enable_%s",
	    profile_name(refused), enabled, profile_name(refused));
}

static const char *
name_of(unsigned language)
{
	return runtime_at(language)->name;
}

static bool
is_checked(unsigned language)
{
	return language == language_python || check_knows(language);
}

/* The rules concern syntax trees, and not every language has a checker.  Code to which they cannot
 * be applied does not run under them: to ignore the rules silently would be a false promise. */
static int
check_language(const struct profile_set *set, unsigned language, struct err *e)
{
	if (is_checked(language) || profile_is_open(set))
		return 0;
	if (policy_is_enabled(PROFILE_open))
		return err_set(e, ERR_invalid_argument,
		    "profile: %s does not apply to %s; run it with profile open", set->title,
		    name_of(language));
	return err_set(e, ERR_denied,
	    "profile: %s does not apply to %s, and this server does not enable profile open; use "
	    "python",
	    set->title, name_of(language));
}

static int
read_profile(const char *names, unsigned language, struct profile_set *set, struct err *e)
{
	if (profile_read(names, set, e) < 0)
		return -1;
	for (enum profile profile = 0; profile < PROFILE_COUNT; profile++)
		if ((set->profiles & 1u << profile) != 0 && !policy_is_enabled(profile))
			return refuse_profile(profile, e);
	return check_language(set, language, e);
}

int
policy_check_profile(const char *names, unsigned language, struct err *e)
{
	struct profile_set set;

	return read_profile(names, language, &set, e);
}

/* Does the operator allow this module, or a package that contains it? */
static bool
allowed(const char *module)
{
	for (size_t i = 0; i < options_imports.count; i++)
		if (profile_within(module, options_imports.items[i]))
			return true;
	return options_imports.count == 0;
}

static int
read_imports(struct policy *policy, struct texts *asked, struct err *e)
{
	for (size_t i = 0; i < asked->count; i++)
		if (!allowed(asked->items[i]))
			return err_set(e, ERR_denied,
			    "allowed_imports[%zu]: this server does not allow the module %.64s", i,
			    asked->items[i]);
	/* An empty list is a list, too: no imports at all. */
	if (asked->items != NULL) {
		policy->imports = *asked;
		*asked = (struct texts){ 0 };
		return 0;
	}
	for (size_t i = 0; i < options_imports.count; i++)
		if (texts_add(&policy->imports, options_imports.items[i]) < 0)
			return err_sys(e, "allowed_imports");
	return 0;
}

static int
check_imports(const struct texts *asked, unsigned language, struct err *e)
{
	if (language == language_python || (check_knows(language) && options_imports.count == 0))
		return 0;
	if (asked->items != NULL && !check_knows(language))
		return err_set(e, ERR_invalid_argument,
		    "allowed_imports: does not apply to %s; leave it out", name_of(language));
	if (options_imports.count > 0)
		return err_set(e, ERR_denied,
		    "language: this server restricts code to listed modules of python, which "
		    "cannot be enforced for %s; use python",
		    name_of(language));
	return 0;
}

int
policy_read(struct policy *policy, struct execute_code *ask, unsigned language,
    const char *session_profile, struct err *e)
{
	char named[PROFILE_TITLE] = "";
	const char *name = ask->profile != NULL      ? ask->profile
	                   : session_profile != NULL ? session_profile
	                   : ask->named_profiles     ? named_profiles(ask, named)
	                                             : options.profile;

	policy->language = language;
	if (read_profile(name, language, &policy->set, e) < 0 ||
	    check_imports(&ask->allowed_imports, language, e) < 0 ||
	    read_imports(policy, &ask->allowed_imports, e) < 0)
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
	return policy->imports.items != NULL || !profile_is_open(&policy->set);
}

/* What the guard keeps from programs. */
static const struct withheld {
	const char *line;
	enum power power;
} withheld[] = {
#define MEMBER(module, name, power, hint) { "-" #module "." #name, POWER_##power },
#include "common/profile/members.def"
};

/* A module with such rows has no other members. */
static const char *const only[] = {
#define ONLY(module, name) "=" #module "." #name,
#include "common/profile/members.def"
};

static void
put_guard(FILE *to, const struct policy *policy, const char *by, const struct texts *modules)
{
	fprintf(to, "%s\n", by);
	for (size_t i = 0; i < modules->count; i++)
		fprintf(to, "%s\n", modules->items[i]);
	for (size_t i = 0; i < COUNT(withheld); i++)
		if (!profile_has(&policy->set, withheld[i].power))
			fprintf(to, "%s\n", withheld[i].line);
	for (size_t i = 0; i < COUNT(only) && !profile_has(&policy->set, POWER_imports); i++)
		fprintf(to, "%s\n", only[i]);
}

static int
write_guard(const struct policy *policy, const char *by, const struct texts *modules,
    struct blob *guard, struct err *e)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, &guard->size);

	if (to == NULL)
		return err_sys(e, "modules");
	put_guard(to, policy, by, modules);

	int status = fclose(to);

	guard->data = text;
	if (status == 0)
		return 0;
	blob_clear(guard);
	return err_sys(e, "modules");
}

/* Node's guard is for the rules of a profile; which modules a program imports, its source shows. */
static bool
is_guarded(const struct policy *policy)
{
	return policy->language == language_python ||
	       (policy->language == language_node && !profile_is_open(&policy->set));
}

int
policy_guard(const struct policy *policy, struct blob *guard, struct err *e)
{
	bool open = profile_is_open(&policy->set), narrowed = policy->imports.items != NULL;
	struct texts modules = { 0 };
	char by[PROFILE_TITLE + 32];

	*guard = (struct blob){ 0 };
	if (!policy_restricts(policy) || !is_guarded(policy))
		return 0;
	snprintf(by, sizeof by, "%s%s%s%s", open ? "" : "profile ", open ? "" : policy->set.title,
	    !open && narrowed ? " with " : "", narrowed ? "allowed_imports" : "");

	int status = profile_modules(&policy->set, narrowed ? &policy->imports : NULL, &modules, e);

	if (status == 0)
		status = write_guard(policy, by, &modules, guard, e);
	texts_clear(&modules);
	return status;
}

static int
ask_box(const struct policy *policy, const struct blob *code, struct policy_question *question,
    void (*done)(void *self, void *report, const struct err *e), void *self, struct err *e)
{
	question->check = check_begin(
	    &(struct check_ask){
		.language = policy->typed ? (unsigned)code_language_typescript : policy->language,
		.code = *code,
		.set = &policy->set,
		.only = &policy->imports,
		.owner = { policy->owner, NULL },
		.done = done,
		.self = self,
	    },
	    e);
	return question->check != NULL ? 0 : -1;
}

int
policy_ask(const struct policy *policy, const struct blob *code, struct policy_question *question,
    void (*done)(void *self, void *report, const struct err *e), void *self, struct err *e)
{
	if (policy->language != language_python)
		return ask_box(policy, code, question, done, self, e);

	struct validate_code request = {
		.code = blob_copy(code->data, code->size),
		.language = (int)policy->language,
		.allowed_imports = policy->imports,
		.profile = policy->profile,
	};

	if (request.code.data == NULL)
		return err_sys(e, "code");
	question->ask = bus_ask(
	    &(struct ask){
		.to = PEER_validator,
		.message = MSG_validate_code,
		.request = &request,
		.owner = policy->owner,
		.timeout_ms = (int64_t)options.validator_ms,
		.self = self,
		.done = done,
	    },
	    e);
	blob_clear(&request.code);
	return question->ask != 0 ? 0 : -1;
}

void
policy_drop(const struct policy_question *question)
{
	/* The callback frees the question. */
	const struct policy_question open = *question;

	if (open.ask != 0)
		bus_cancel(open.ask);
	else if (open.check != NULL)
		check_cancel(open.check);
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
