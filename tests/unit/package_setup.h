/* SPDX-License-Identifier: Apache-2.0 */
/* package_setup.h - packages with fake workspaces (fake.h); included by each test of packages. */
#pragma once

#include "executor/packages/package_set.h"
#include "executor/sandbox/workspace.h"

#include "executor/options.h"
#include "fake.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static inline int
begin_packages(void **state)
{
	struct err e;

	(void)state;
	fake_reset();
	assert_int_equal(fake_options(&e), 0);
	options.packages_mb = 1000;
	return 0;
}

/* No test leaves a package in use, or loses a workspace. */
static inline int
end_packages(void **state)
{
	(void)state;
	options.packages_mb = 0;
	package_put(NULL);
	package_forget();
	assert_int_equal(fake.workspaces, 0);
	return 0;
}

static inline void
take_workspace(void *self, struct workspace *workspace, const struct err *e)
{
	(void)e;
	*(struct workspace **)self = workspace;
}

static inline struct workspace *
new_workspace(void)
{
	const struct workspace_limits limits = { 1 << 20, 100 };
	struct workspace *made = NULL;

	workspace_make(&limits, take_workspace, &made);
	fake_make(NULL);
	assert_non_null(made);
	return made;
}

/* A digest of one digit. */
static inline void
digest_of(char digit, char sha256[HASH_HEX])
{
	memset(sha256, digit, HASH_HEX - 1);
	sha256[HASH_HEX - 1] = '\0';
}

/* The caller uses it. */
static inline struct package *
package_of(char digit, const char *name, uint64_t mib)
{
	struct package made = {
		.size = 10,
		.name = strdup(name),
		.version = strdup("1.0"),
		.workspace = new_workspace(),
		.bytes = mib << 20,
	};

	digest_of(digit, made.sha256);
	return package_add(&made);
}

static inline struct package *
find(char digit)
{
	char sha256[HASH_HEX];

	digest_of(digit, sha256);
	return package_find(sha256, 0);
}
