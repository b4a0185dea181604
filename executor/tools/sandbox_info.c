/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_info.c - reports profiles, modules, limits, languages, layers; no data of any caller. */
#include "executor/tools/sandbox_info.h"

#include "executor/inquiry.h"
#include "executor/run/check/policy.h"
#include "executor/run/container.h"
#include "executor/sandbox/box.h"
#include "executor/sandbox/builder.h"
#include "executor/session/resume.h"
#include "executor/session/sign.h"
#include "executor/tools/info.h"

#include "common/base/auto.h"
#include "common/journal/spool.h"

#include <stddef.h>
#include <string.h>

/* The member of the reply for each profile. */
static const size_t places[PROFILE_COUNT] = {
/* clang-format off */
#define PROFILE(name, ...) [PROFILE_##name] = offsetof(struct profile_infos, name),
#include "common/profile/profiles.def"
	/* clang-format on */
};

/* Of the installed modules, those that the profile's lists allow. */
static int
add_installed(const struct profile_set *set, struct texts *to, struct err *e)
{
	struct texts all = { 0 };
	int status = inquiry_words(inquiry_of_runtime(language_python, INQUIRY_MODULES), &all, e);

	for (size_t i = 0; i < all.count && status == 0; i++)
		if (!profile_is_open(set) && profile_leads(set, NULL, all.items[i]) &&
		    texts_add(to, all.items[i]) < 0)
			status = err_sys(e, "modules");
	texts_clear(&all);
	return status;
}

static int
describe_profile(struct profile_infos *infos, enum profile profile,
    const struct get_sandbox_info *ask, struct err *e)
{
	struct profile_info *info = calloc(1, sizeof *info);
	struct profile_set set;

	if (info == NULL)
		return err_sys(e, "profiles");
	*(struct profile_info **)((char *)infos + places[profile]) = info;
	info->enabled = ask->named_profiles ? policy_is_named(profile) : policy_is_enabled(profile);
	if (!ask->detail)
		return 0;
	must(profile_read(profile_name(profile), &set, e) == 0);
	return profile_modules(&set, NULL, &info->modules, e) < 0
	           ? -1
	           : add_installed(&set, &info->installed, e);
}

static int
describe_profiles(struct sandbox_info *reply, const struct get_sandbox_info *ask, struct err *e)
{
	reply->security_profiles = calloc(1, sizeof *reply->security_profiles);
	if (reply->security_profiles == NULL)
		return err_sys(e, "profiles");
	for (enum profile profile = 0; profile < PROFILE_COUNT; profile++)
		if (describe_profile(reply->security_profiles, profile, ask, e) < 0)
			return -1;
	return 0;
}

static int
copy_texts(const struct texts *from, struct texts *to, struct err *e)
{
	for (size_t i = 0; i < from->count; i++)
		if (texts_add(to, from->items[i]) < 0)
			return err_sys(e, "isolation");
	return 0;
}

static int
describe_isolation(struct sandbox_info *reply, struct err *e)
{
	const struct isolation *from = builder_isolation();
	struct isolation *to = reply->isolation = calloc(1, sizeof *to);

	if (to == NULL)
		return err_sys(e, "isolation");
	to->backend = strdup(from->backend);
	to->limits_by = strdup(from->limits_by);
	return copy_texts(&from->layers, &to->layers, e) < 0
	           ? -1
	           : copy_texts(&from->missing, &to->missing, e);
}

static int
describe(struct sandbox_info *reply, const struct get_sandbox_info *ask, struct err *e)
{
	reply->success = true;
	reply->resource_limits = info_limits();
	reply->sessions_outlive_restart = resume_keeps();
	reply->artifact_key = strdup(sign_public_key());
	if (spool_checkpoint()[0] != '\0')
		reply->audit_checkpoint = strdup(spool_checkpoint());
	reply->container_mode = calloc(1, sizeof *reply->container_mode);
	if (reply->resource_limits == NULL || reply->container_mode == NULL)
		return err_sys(e, "limits");
	reply->container_mode->available = container_available();
	reply->container_mode->enabled = container_enabled();
	if (describe_profiles(reply, ask, e) < 0 || describe_isolation(reply, e) < 0 ||
	    info_runtimes(&reply->runtimes, -1, e) < 0)
		return -1;
	return ask->detail ? inquiry_words(inquiry_of_runtime(language_python, INQUIRY_MODULES),
				 &reply->modules, e)
	                   : 0;
}

int
sandbox_info_on_get_sandbox_info(struct call *call, void *request, struct err *e)
{
	const struct get_sandbox_info *ask = request;
	struct sandbox_info reply = { 0 };
	int status = describe(&reply, ask, e);

	if (status == 0)
		call_reply(call, &reply);
	message_clear(MSG_sandbox_info, &reply);
	return status;
}
