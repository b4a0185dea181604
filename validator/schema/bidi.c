/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bidi.c - the conditions of RFC 5893, section 2, as a regular expression over bidi classes.
 *
 * Trusts no name. libidn2 leaves the rule out; PCRE2 knows the classes.
 */
#include "validator/schema/bidi.h"

#include "common/base/auto.h"
#include "common/base/must.h"

#include <idn2.h>
#include <stdint.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* clang-format off */
#define CLASS(name) "\\p{bc=" #name "}"
#define NEUTRAL CLASS(EN) CLASS(ES) CLASS(CS) CLASS(ET) CLASS(ON) CLASS(BN) CLASS(NSM)
#define RIGHT CLASS(R) CLASS(AL)

/* One of these makes every label of a domain subject to the rule. */
static const char trigger[] = "[" RIGHT CLASS(AN) "]";
/* A label from right to left has no European numbers beside Arabic ones. */
static const char rule[] =
	"\\A(?:"
	"(?=[" RIGHT "])(?!.*(?:" CLASS(EN) ".*" CLASS(AN) "|" CLASS(AN) ".*" CLASS(EN) "))"
	"[" RIGHT CLASS(AN) NEUTRAL "]*[" RIGHT CLASS(EN) CLASS(AN) "]" CLASS(NSM) "*|"
	"(?=" CLASS(L) ")[" CLASS(L) NEUTRAL "]*[" CLASS(L) CLASS(EN) "]" CLASS(NSM) "*"
	")\\z";
/* clang-format on */

static bool
matches(pcre2_code **code, const char *pattern, const char *text, size_t size)
{
	PCRE2_SIZE at;
	int fault;

	if (*code == NULL)
		*code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
		    PCRE2_UTF | PCRE2_DOTALL, &fault, &at, NULL);
	must(*code != NULL);
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	must(data != NULL);
	int got = pcre2_match(*code, (PCRE2_SPTR)text, size, 0, 0, data, NULL);
	pcre2_match_data_free(data);
	return got > 0;
}

bool
bidi_fits(const char *domain)
{
	static pcre2_code *triggers, *rules;
	auto_free char *shown = NULL;

	if (idn2_to_unicode_8z8z(domain, &shown, IDN2_NO_TR46) != IDN2_OK)
		return false;
	if (!matches(&triggers, trigger, shown, strlen(shown)))
		return true;
	for (const char *label = shown;; label++) {
		size_t size = strcspn(label, ".");

		if (!matches(&rules, rule, label, size))
			return false;
		label += size;
		if (*label == '\0')
			return true;
	}
}
