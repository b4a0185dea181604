/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.c - one function for each group of arguments.  Trusts the command line, which is the
 * operator's. */
#include "executor/builder/arguments.h"

#include "common/base/auto.h"
#include "executor/builder/limits/cgroup.h"
#include "executor/builder/oci/launcher.h"
#include "executor/builder/runtimes.h"
#include "executor/builder/slot.h"
#include "executor/builder/zygotes.h"

#include <stdlib.h>
#include <string.h>

static bool loopback;
static const char *shown; /* NULL: nothing of hidden.def */
static const char *ca;    /* NULL: no certificates but the host's */

static int
add_python(const char *const *args, size_t n, struct err *e)
{
	if (n != 1)
		return err_set(e, ERR_invalid_argument, "python: one path");
	return runtimes_add_python(args[0], e);
}

static int
add_image(const char *const *args, size_t n, struct err *e)
{
	return n == 2 ? runtimes_add_image(args[0], args[1], e)
	              : err_set(e, ERR_invalid_argument, "image: its interpreter and directory");
}

static int
add_zygote(const char *const *args, size_t n, struct err *e)
{
	return n == 2 ? zygotes_add(args[0], args[1], e)
	              : err_set(e, ERR_invalid_argument, "zygote: its interpreter and modules");
}

static int
add_container(const char *const *args, size_t n, struct err *e)
{
	return n == 2 ? launcher_add(args[0], args[1], e)
	              : err_set(e, ERR_invalid_argument, "container: its name and path");
}

static int
set_shown(const char *const *args, size_t n, struct err *e)
{
	if (n != 1 || shown != NULL)
		return err_set(e, ERR_invalid_argument, "show: one path");
	shown = args[0];
	return 0;
}

static int
set_state(const char *const *args, size_t n, struct err *e)
{
	if (n != 1)
		return err_set(e, ERR_invalid_argument, "state: one path");
	slot_set_state(args[0]);
	return 0;
}

static int
own_cgroup(const char *const *args, size_t n, struct err *e)
{
	if (n != 1 || strcmp(args[0], "own") != 0)
		return err_set(e, ERR_invalid_argument, "cgroup: own");
	cgroup_take_own();
	return 0;
}

static int
set_required(const char *const *args, size_t n, struct err *e)
{
	char *end = NULL;
	unsigned long long layers = n == 1 ? strtoull(args[0], &end, 16) : 0;

	if (n != 1 || end == args[0] || *end != '\0' || layers >> LAYER_COUNT != 0)
		return err_set(e, ERR_invalid_argument, "require: the bits of layers");
	launcher_require(layers);
	return 0;
}

static int
set_loopback(const char *const *args, size_t n, struct err *e)
{
	(void)args;
	if (n != 0)
		return err_set(e, ERR_invalid_argument, "loopback: no word");
	loopback = true;
	return 0;
}

static int
set_ca(const char *const *args, size_t n, struct err *e)
{
	if (n != 1)
		return err_set(e, ERR_invalid_argument, "ca: one path");
	ca = args[0];
	return 0;
}

static const struct {
	const char *word;
	int (*take)(const char *const *args, size_t n, struct err *);
} groups[] = {
	{ "runtime", runtimes_add },
	{ "python", add_python },
	{ "image", add_image },
	{ "zygote", add_zygote },
	{ "container", add_container },
	{ "show", set_shown },
	{ "state", set_state },
	{ "cgroup", own_cgroup },
	{ "require", set_required },
	{ "loopback", set_loopback },
	{ "ca", set_ca },
};

static int
take_group(const char *word, const char *const *args, size_t n, struct err *e)
{
	for (size_t i = 0; i < COUNT(groups); i++)
		if (strcmp(groups[i].word, word) == 0)
			return groups[i].take(args, n, e);
	return err_set(e, ERR_invalid_argument, "%.32s: not known", word);
}

int
arguments_read(int argc, char **argv, struct err *e)
{
	const char *const *args = (const char *const *)argv;
	int end;

	for (int at = 0; at < argc; at = end + 1) {
		for (end = at; end < argc && strcmp(args[end], "--") != 0; end++)
			;
		if (end == at || take_group(args[at], args + at + 1, (size_t)(end - at - 1), e) < 0)
			return err_add(e, "the builder's command line");
	}
	return 0;
}

bool
arguments_show(const char *directory)
{
	return (shown != NULL && strcmp(shown, directory) == 0) || runtimes_name(directory) ||
	       launcher_is_below(directory);
}

bool
arguments_loopback(void)
{
	return loopback;
}

const char *
arguments_ca(void)
{
	return ca;
}
