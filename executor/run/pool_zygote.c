/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_zygote.c - which zygotes the builder has, and which one runs a program: one for most
 * programs of Python, one with more modules for the profile data_science, and one for each
 * environment that was not made of an image.
 */
#include "executor/run/pool.h"

#include "executor/environment.h"
#include "executor/options.h"
#include "executor/runtime.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>

static int
add_all(struct texts *texts, const char *const *items, struct err *e)
{
	for (; *items != NULL; items++)
		if (texts_add(texts, *items) < 0)
			return err_sys(e, "arguments of the builder");
	return 0;
}

static int
add_runtime(struct texts *texts, size_t number, struct err *e)
{
	const char *extension = runtime_at(number)->extension;
	const char *const head[] = { "runtime", runtime_at(number)->name,
		extension != NULL ? extension : "", NULL };
	const char *const end[] = { "--", NULL };

	if (add_all(texts, head, e) < 0 || add_all(texts, runtime_at(number)->argv, e) < 0)
		return -1;
	return add_all(texts, end, e);
}

static int
add_zygote(
    struct texts *texts, const char *python, const char *modules, const char *more, struct err *e)
{
	auto_free char *all = NULL;

	if (asprintf(&all, "%s%s%s", modules, modules[0] != 0 && more[0] != 0 ? "," : "", more) < 0)
		return err_sys(e, "arguments of the builder");

	const char *const group[] = { "zygote", python, all, "--", NULL };

	return add_all(texts, group, e);
}

static int
add_zygotes(struct texts *texts, struct err *e)
{
	if (add_zygote(texts, options.python, options.preimport, "", e) < 0 ||
	    add_zygote(
		texts, options.python, options.preimport, options.preimport_data_science, e) < 0)
		return -1;
	for (size_t i = 1; i < environment_count(); i++)
		if (environment_at(i)->root == NULL && add_zygote(texts, environment_at(i)->python,
							   environment_at(i)->ahead, "", e) < 0)
			return -1;
	return 0;
}

static int
add_interpreter(struct texts *texts, const struct environment *environment, struct err *e)
{
	const char *const python[] = { "python", environment->python, "--", NULL };
	const char *const image[] = { "image", environment->python, environment->root, "--", NULL };

	return add_all(texts, environment->root != NULL ? image : python, e);
}

int
pool_arguments(struct texts *texts, struct err *e)
{
	const char *const show[] = { "show", "/usr/local", "--", NULL };

	for (size_t i = 0; i < environment_count(); i++)
		if (add_interpreter(texts, environment_at(i), e) < 0)
			return -1;
	if (options.usr_local && add_all(texts, show, e) < 0)
		return -1;
	for (size_t i = language_COUNT; i < runtime_count(); i++)
		if (add_runtime(texts, i, e) < 0)
			return -1;
	return options.warm ? add_zygotes(texts, e) : 0;
}

static bool
names_science(const char *profile)
{
	static const char name[] = "data_science";
	const char *at = profile;

	for (; (at = strstr(at, name)) != NULL; at += sizeof name - 1) {
		char behind = at[sizeof name - 1];

		if ((at == profile || at[-1] == ',' || at[-1] == ' ') &&
		    (behind == 0 || behind == ',' || behind == ' '))
			return true;
	}
	return false;
}

/* An image has none: nothing of it runs outside of boxes, so its interpreters start in boxes that
 * wait. */
static uint32_t
named_zygote(uint64_t environment)
{
	uint32_t number = POOL_NAMED;

	for (uint64_t i = 1; i <= environment; i++)
		number += environment_at(i)->root == NULL;
	return environment_at(environment)->root != NULL ? 0 : number;
}

uint32_t
pool_zygote(unsigned language, const char *profile, uint64_t environment)
{
	if (!options.warm || language != language_python)
		return 0;
	if (environment > 0)
		return named_zygote(environment);
	return names_science(profile) ? POOL_SCIENCE : POOL_BASIC;
}
