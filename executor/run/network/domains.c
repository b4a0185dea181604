/* SPDX-License-Identifier: Apache-2.0 */
/*
 * domains.c - lists of domains: the operator's, a session's, a call's, and approvals.
 *
 * Trusts the operator's list and the configuration of package indexes.  A list of a client is only
 * accepted if something else allows each of its entries.
 */
#include "executor/run/network/domains.h"

#include "executor/options.h"
#include "executor/run/network/index_hosts.h"

#include "common/base/auto.h"
#include "common/base/domain.h"
#include "common/base/log.h"
#include "common/bus/bus.h"

#include <stdio.h>
#include <string.h>

enum {
	MOST_DOMAINS = 256,
};

static const char all[] = "*"; /* the list of a session that may reach all that is allowed */

static const struct group {
	const char *name, *hosts; /* hosts NULL: those of the index */
	enum index_kind index;
} groups[] = {
/* clang-format off */
#define INDEX(name) { #name, NULL, INDEX_##name },
#define HOSTS(name, hosts) { #name, hosts, INDEX_COUNT },
#include "executor/run/network/domain_groups.def"
	/* clang-format on */
};

static struct texts allowed; /* by the operator */

/* ---- lists ---- */

static int
add(struct texts *list, const char *domain, struct err *e)
{
	if (list->count == MOST_DOMAINS)
		return err_set(e, ERR_limit_exceeded, "more than %d domains", MOST_DOMAINS);
	return texts_add(list, domain) < 0 ? err_sys(e, "domains") : 0;
}

static int
add_group(struct texts *list, const struct group *group, struct err *e)
{
	const struct texts *hosts = group->hosts == NULL ? index_hosts_of(group->index) : NULL;
	auto_free char *copy = hosts == NULL ? strdup(group->hosts) : NULL;
	char *rest = copy, *word;

	if (hosts != NULL && hosts->count == 0)
		return err_set(e, ERR_invalid_argument,
		    "%s: this server's host has no such package index configured", group->name);
	for (size_t i = 0; hosts != NULL && i < hosts->count; i++)
		if (add(list, hosts->items[i], e) < 0)
			return -1;
	while ((word = strsep(&rest, " ")) != NULL)
		if (add(list, word, e) < 0)
			return -1;
	return hosts == NULL && copy == NULL ? err_sys(e, "domains") : 0;
}

/* Adds an entry in its one form, or the members of a group. */
static int
expand(struct texts *list, const char *entry, struct err *e)
{
	char canonical[DOMAIN_CANONICAL];

	for (size_t i = 0; i < COUNT(groups); i++)
		if (strcmp(groups[i].name, entry) == 0)
			return add_group(list, &groups[i], e);
	if (domain_check(entry, canonical, e) < 0)
		return -1;
	return add(list, canonical, e);
}

static int
expand_text(struct texts *list, const char *text, struct err *e)
{
	auto_free char *copy = strdup(text);
	char *rest = copy, *word;

	if (copy == NULL)
		return err_sys(e, "domains");
	while ((word = strsep(&rest, ", ")) != NULL)
		if (*word != '\0' && expand(list, word, e) < 0)
			return -1;
	return 0;
}

static bool
covers(const struct texts *list, const struct domain *domain)
{
	struct domain entry;
	struct err ignored;

	for (size_t i = 0; i < list->count; i++)
		if (domain_read(list->items[i], &entry, &ignored) == 0 &&
		    domain_covers(&entry, domain))
			return true;
	return false;
}

/* A wrong entry allows nothing.  It must not stop what needs no network. */
int
domains_settle(struct err *e)
{
	auto_free char *copy = strdup(options.egress_domains);
	char *rest = copy, *word;

	texts_clear(&allowed);
	if (copy == NULL)
		return err_sys(e, "domains");
	while ((word = strsep(&rest, ", ")) != NULL)
		if (*word != '\0' && expand(&allowed, word, e) < 0)
			log_error("egress_domains: an entry is left out and allows nothing",
			    LOG_S("entry", word), LOG_E(e));
	return 0;
}

/* ---- requests ---- */

static int
refuse(const char *domain, struct err *e)
{
	return err_set(e, ERR_egress_denied,
	    "allowed_domains: neither the operator of this server nor an approval allows %.64s",
	    domain);
}

/* Approvals are only known later, so a name that needs one passes while approvald runs. */
static int
check_allowed(const struct texts *list, struct err *e)
{
	struct domain domain;

	for (size_t i = 0; i < list->count; i++) {
		if (domain_read(list->items[i], &domain, e) < 0)
			return -1;
		if (!covers(&allowed, &domain) && !bus_ready(PEER_approvald, NULL))
			return refuse(list->items[i], e);
	}
	return 0;
}

static int
read_list(const struct texts *asked, struct texts *list, struct err *e)
{
	for (size_t i = 0; i < asked->count; i++)
		if (expand(list, asked->items[i], e) < 0)
			return err_add(e, "allowed_domains[%zu]", i);
	return check_allowed(list, e);
}

static int
check_any(struct err *e)
{
	return allowed.count > 0 ? 0
	                         : err_set(e, ERR_egress_denied,
				       "enable_network: the operator of this server allows no "
				       "domain");
}

static int
join(const struct texts *list, char **joined, struct err *e)
{
	char text[DOMAINS_BYTES] = "";
	size_t size = 0;

	for (size_t i = 0; i < list->count; i++) {
		size += (size_t)snprintf(
		    text + size, sizeof text - size, "%s%s", i > 0 ? "," : "", list->items[i]);
		if (size >= sizeof text)
			return err_set(e, ERR_limit_exceeded,
			    "allowed_domains: over the %d bytes that a session keeps",
			    DOMAINS_BYTES - 1);
	}
	*joined = strdup(text);
	return *joined == NULL ? err_sys(e, "domains") : 0;
}

int
domains_of_session(const struct create_session *ask, char **list, struct err *e)
{
	struct texts domains = { 0 };
	int r = 0;

	*list = NULL;
	if (ask->allowed_domains.count > 0) {
		r = read_list(&ask->allowed_domains, &domains, e);
		if (r == 0)
			r = join(&domains, list, e);
	} else if (ask->enable_network) {
		r = check_any(e);
		if (r == 0 && (*list = strdup(all)) == NULL)
			r = err_sys(e, "domains");
	}
	texts_clear(&domains);
	return r;
}

static int
check_session(const struct texts *asked, const char *session, struct err *e)
{
	struct texts list = { 0 };
	struct domain domain;
	int r = expand_text(&list, session, e);

	for (size_t i = 0; r == 0 && i < asked->count; i++) {
		r = domain_read(asked->items[i], &domain, e);
		if (r == 0 && !covers(&list, &domain))
			r = err_set(e, ERR_egress_denied,
			    "allowed_domains: %.64s is not among the allowed_domains of the "
			    "session",
			    asked->items[i]);
	}
	texts_clear(&list);
	return r;
}

static int
take_all(struct texts *domains, struct err *e)
{
	for (size_t i = 0; i < allowed.count; i++)
		if (add(domains, allowed.items[i], e) < 0)
			return -1;
	return check_any(e);
}

int
domains_of_run(
    const struct execute_code *ask, const char *session, struct texts *domains, struct err *e)
{
	bool listed = session != NULL && strcmp(session, all) != 0;

	*domains = (struct texts){ 0 };
	if (ask->allowed_domains.count > 0) {
		if (read_list(&ask->allowed_domains, domains, e) < 0)
			return -1;
		return listed ? check_session(domains, session, e) : 0;
	}
	if (listed)
		return expand_text(domains, session, e) < 0 ? -1 : check_allowed(domains, e);
	return session != NULL || ask->enable_network ? take_all(domains, e) : 0;
}

/* ---- approvals ---- */

/* Entries are those that domains_of_run() has read. */
static bool
is_allowed(const char *asked, const struct approval_list *grants)
{
	struct domain domain, entry;
	struct err ignored;

	if (domain_read(asked, &domain, &ignored) < 0)
		return false;
	if (covers(&allowed, &domain))
		return true;
	for (size_t i = 0; i < grants->approvals.count; i++)
		if (domain_read(grants->approvals.items[i].subject, &entry, &ignored) == 0 &&
		    domain_covers(&entry, &domain))
			return true;
	return false;
}

static int
leave_out(struct texts *domains, size_t i, struct texts *notes, struct err *e)
{
	struct err why;

	refuse(domains->items[i], &why);
	free(domains->items[i]);
	domains->count--;
	memmove(&domains->items[i], &domains->items[i + 1],
	    (domains->count - i) * sizeof domains->items[0]);
	return texts_add(notes, why.text) < 0 ? err_sys(e, "notes") : 0;
}

int
domains_permit(
    struct texts *domains, const struct approval_list *grants, struct texts *notes, struct err *e)
{
	for (size_t i = 0; i < domains->count;) {
		if (is_allowed(domains->items[i], grants))
			i++;
		else if (notes == NULL)
			return refuse(domains->items[i], e);
		else if (leave_out(domains, i, notes, e) < 0)
			return -1;
	}
	return 0;
}

bool
domains_reach(const struct texts *domains, const struct texts *hosts)
{
	struct domain host;
	struct err ignored;

	for (size_t i = 0; i < hosts->count; i++)
		if (domain_read(hosts->items[i], &host, &ignored) == 0 && covers(domains, &host))
			return true;
	return false;
}

bool
domains_need_grants(const struct texts *domains)
{
	const struct approval_list none = { 0 };

	for (size_t i = 0; i < domains->count; i++)
		if (!is_allowed(domains->items[i], &none))
			return true;
	return false;
}
