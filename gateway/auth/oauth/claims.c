/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claims.c - from claims to an identity.
 *
 * Trusts the issuer for who the user is, but not for the form of its claims.  Checks come in the
 * order in which an operator wants to see their errors: wrong issuer or audience first, then
 * expiry.
 */
#include "gateway/auth/oauth/claims.h"

#include "common/credential/scope.h"

#include "common/base/auto.h"
#include "common/base/hash.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	AUDIENCES = 16,
	SUBJECT = 255, /* bytes: OpenID Connect Core, section 2 */
};

static const double latest_s = 253402300799; /* the end of the year 9999 */

static int
reject(struct err *e, int sys, const char *why)
{
	err_set(e, ERR_unauthenticated, "%s", why);
	e->sys = sys;
	return -1;
}

/* ---- issuer and audience ---- */

static bool
is_text(const json_t *value, const char *wanted)
{
	return json_is_string(value) && strcmp(json_string_value(value), wanted) == 0;
}

static bool
is_for(const json_t *aud, const char *resource)
{
	const json_t *one;
	size_t i;

	if (json_array_size(aud) > AUDIENCES)
		return false;
	json_array_foreach(aud, i, one)
	{
		if (is_text(one, resource))
			return true;
	}
	return is_text(aud, resource);
}

static int
check_parties(const json_t *claims, const struct claims_rules *rules, struct err *e)
{
	if (!is_text(json_object_get(claims, "iss"), rules->issuer))
		return reject(e, EKEYREJECTED, "the token's iss is not this server's issuer");
	if (!is_for(json_object_get(claims, "aud"), rules->resource))
		return reject(
		    e, EKEYREJECTED, "the token's aud does not contain this server's resource");
	return 0;
}

/* ---- times ---- */

/* NumericDate (RFC 7519, section 2), rounded down; -1 where it is not one. */
static int
read_date(const json_t *claims, const char *name, int64_t *seconds, bool *there)
{
	const json_t *value = json_object_get(claims, name);
	double number = json_number_value(value);

	*there = value != NULL;
	if (value == NULL)
		return 0;
	if (!json_is_number(value) || !isfinite(number) || number < 0 || number > latest_s)
		return -1;
	*seconds = (int64_t)number;
	return 0;
}

static int
check_times(const json_t *claims, const struct claims_rules *rules, int64_t now_s,
    struct identity *who, struct err *e)
{
	int64_t from = 0, until = 0, issued = 0;
	bool begins, ends, dated;

	if (read_date(claims, "exp", &until, &ends) < 0 || !ends)
		return reject(e, EKEYREJECTED, "the token's exp is missing or not a valid time");
	if (read_date(claims, "nbf", &from, &begins) < 0 ||
	    read_date(claims, "iat", &issued, &dated) < 0)
		return reject(e, EKEYREJECTED, "the token's nbf or iat is not a valid time");
	if (now_s >= until + rules->leeway_s)
		return reject(e, EKEYEXPIRED, "the token has expired");
	if (begins && now_s + rules->leeway_s < from)
		return reject(e, EKEYREJECTED, "the token is not yet valid (nbf)");
	if (dated && now_s + rules->leeway_s < issued)
		return reject(e, EKEYREJECTED, "the token's iat is in the future");
	who->expires_s = until + rules->leeway_s;
	return 0;
}

/* ---- principal and scopes ---- */

static bool
is_visible(const char *text)
{
	while (isgraph((unsigned char)*text))
		text++;
	return *text == '\0';
}

static int
read_subject(
    const json_t *claims, const struct claims_rules *rules, struct identity *who, struct err *e)
{
	const char *sub = json_string_value(json_object_get(claims, "sub"));
	auto_free char *name = NULL;
	int size;

	if (sub == NULL || *sub == '\0' || strlen(sub) > SUBJECT)
		return reject(e, EKEYREJECTED, "the token's sub is missing or not 1 to 255 bytes");
	size = asprintf(&name, "%s#%s", rules->issuer, sub);
	if (size < 0)
		return err_sys(e, "principal");
	if (is_visible(sub) && (size_t)size + sizeof "oauth:" <= sizeof who->owner.principal) {
		snprintf(who->owner.principal, sizeof who->owner.principal, "oauth:%s", name);
	} else {
		char hex[HASH_HEX];

		hash_hex(name, (size_t)size, hex);
		snprintf(who->owner.principal, sizeof who->owner.principal, "oauth:sha256:%s", hex);
	}
	return 0;
}

static int
read_namespace(
    const json_t *claims, const struct claims_rules *rules, struct identity *who, struct err *e)
{
	const json_t *value = json_object_get(claims, rules->namespace_claim);
	const char *text = json_string_value(value);

	if (value == NULL || rules->namespace_claim[0] == '\0')
		return 0;
	if (text == NULL || *text == '\0' || strlen(text) >= sizeof who->owner.namespace ||
	    !is_visible(text))
		return reject(e, EKEYREJECTED,
		    "the token's namespace is not 1 to 64 visible ASCII characters");
	snprintf(who->owner.namespace, sizeof who->owner.namespace, "%s", text);
	return 0;
}

/* scope is a string (RFC 8693, section 4.2).  Some issuers use scp, a string or an array. */
static void
read_scopes(const json_t *claims, struct identity *who)
{
	static const char *const names[] = { "scope", "scp" };
	const json_t *one;
	size_t i;

	for (size_t n = 0; n < COUNT(names); n++) {
		const json_t *value = json_object_get(claims, names[n]);

		if (json_is_string(value))
			who->scopes |= scope_parse_all(json_string_value(value));
		json_array_foreach(value, i, one)
		{
			if (json_is_string(one))
				who->scopes |= scope_parse_all(json_string_value(one));
		}
	}
}

int
claims_read(const json_t *claims, const struct claims_rules *rules, int64_t now_s,
    struct identity *who, struct err *e)
{
	*who = (struct identity){ .source = IDENTITY_OAUTH };
	if (check_parties(claims, rules, e) < 0 || check_times(claims, rules, now_s, who, e) < 0 ||
	    read_subject(claims, rules, who, e) < 0 || read_namespace(claims, rules, who, e) < 0)
		return -1;
	read_scopes(claims, who);
	return 0;
}
