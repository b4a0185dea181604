/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_base.c - the configuration that pip and npm find in a box, and who gets it.
 *
 * Trusts the operator's configuration of pip and npm, of which it takes the URLs (index_hosts.h).
 */
#include "executor/run/network/user_base.h"

#include "executor/builder/trust.h"
#include "executor/builder/user_base.h"
#include "executor/run/network/domains.h"
#include "executor/run/network/index_hosts.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>

/* npm's own list of authorities lacks the operator's and that of a run (bound.h).
 *
 * Debian's pip refuses to install anything beside Debian's packages.  Here that can do no harm. */
static const char pip_begin[] = "[global]\nbreak-system-packages = true\nno-cache-dir = true\n"
				"disable-pip-version-check = true\n";
static const char npm_begin[] =
    "cache=/user/base/.npm\nprefix=/user/base\nupdate-notifier=false\naudit=false\n"
    "fund=false\ncafile=" TRUST_BUNDLE "\n";

static const char http[] = "http://";

static void
write_trusted(FILE *to, const char *url)
{
	const char *host = url + sizeof http - 1;

	if (strncmp(url, http, sizeof http - 1) == 0)
		fprintf(to, "\t%.*s\n", (int)strcspn(host, "/"), host);
}

/* The operator has chosen an index without TLS, so pip need not refuse it. */
static void
write_pip(FILE *to)
{
	const struct texts *more = index_hosts_more(INDEX_pypi);
	const char *url = index_hosts_is_chosen(INDEX_pypi) ? index_hosts_url(INDEX_pypi) : "";

	fputs(pip_begin, to);
	if (*url != '\0')
		fprintf(to, "index-url = %s\n", url);
	fputs("extra-index-url =\n", to);
	for (size_t i = 0; i < more->count; i++)
		fprintf(to, "\t%s\n", more->items[i]);
	fputs("trusted-host =\n", to);
	write_trusted(to, url);
	for (size_t i = 0; i < more->count; i++)
		write_trusted(to, more->items[i]);
}

static void
write_npm(FILE *to)
{
	fputs(npm_begin, to);
	if (index_hosts_is_chosen(INDEX_npm))
		fprintf(to, "registry=%s/\n", index_hosts_url(INDEX_npm));
}

static int
give(const char *variable, void (*write)(FILE *), struct err *e)
{
	auto_free char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (to == NULL)
		return err_sys(e, "%s", variable);
	write(to);
	if (fclose(to) != 0 || setenv(variable, text, 1) < 0)
		return err_sys(e, "%s", variable);
	return 0;
}

int
user_base_settle(struct err *e)
{
	return give(USER_BASE_PIP, write_pip, e) < 0 ? -1 : give(USER_BASE_NPM, write_npm, e);
}

bool
user_base_wanted(const struct plan *plan)
{
	return plan->limits.box.container == 0 &&
	       (domains_reach(&plan->domains, index_hosts_of(INDEX_pypi)) ||
		   domains_reach(&plan->domains, index_hosts_of(INDEX_npm)));
}
