/* SPDX-License-Identifier: Apache-2.0 */
/* test_auth.c - from a header to an identity or the right error, and reloads of changed files. */
#include "common/credential/directory.h"
#include "common/credential/tokens.h"
#include "gateway/auth/auth.h"
#include "gateway/auth/challenge.h"
#include "gateway/auth/denial.h"
#include "gateway/auth/throttle.h"
#include "gateway/auth/used.h"
#include "gateway/options.h"

#include "tests/unit/issuer.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/loop.h"
#include "common/bus/bus.h"
#include "common/codec/wire.h"
#include "common/daemon/daemon.h"
#include "common/journal/batch.h"
#include "common/journal/spool.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#define ISSUER   "https://id.example"
#define RESOURCE "https://box.example/mcp"

static char directory[] = "/tmp/auth-XXXXXX";
static int directory_fd;
static char token[TOKEN_TEXT], bearer[TOKEN_TEXT + 8];
static json_t *key;
static int64_t clock_ms = 1000;
static struct {
	unsigned count;
	char detail[512], code[64], principal[160];
} recorded;
static struct {
	bool there, full;
	struct ask asked; /* without it, last */
} spool;

/* ---- what it stands on, played ---- */

int64_t
loop_now_ms(void)
{
	return clock_ms;
}

const char *
daemon_state_root(void)
{
	return directory;
}

void
daemon_allow(int fd, unsigned access)
{
	assert_true(fd >= 0);
	assert_int_equal(access, 1);
}

static unsigned used;

void
used_open(bool (*keeps)(const char *credential))
{
	assert_false(keeps("00000000000000000000000000000000"));
}

void
used_note(const struct identity *who, int64_t now_s)
{
	used += who->source == IDENTITY_TOKEN && now_s > 0;
}

void
used_close(void)
{
}

static void
note(const struct audit_event *event)
{
	assert_int_equal(event->event, event_auth_denied);
	recorded.count++;
	snprintf(recorded.detail, sizeof recorded.detail, "%s", event->detail);
	snprintf(recorded.code, sizeof recorded.code, "%s", event->code);
	snprintf(recorded.principal, sizeof recorded.principal, "%s",
	    event->principal != NULL ? event->principal : "");
}

int
daemon_spool(struct err *e)
{
	return spool.there ? 0 : err_set(e, ERR_unavailable, "another has it");
}

int
spool_record(struct audit_event *event, struct err *e)
{
	assert_true(spool.there);
	if (spool.full)
		return err_set(e, ERR_unavailable, "the spool is full");
	note(event);
	return 0;
}

uint64_t
bus_ask(const struct ask *ask, struct err *e)
{
	const struct audit_append *append = ask->request;

	(void)e;
	assert_false(spool.there);
	assert_int_equal(ask->message, MSG_audit_append);
	spool.asked = *ask;
	struct audit_event event = { 0 };
	struct blob packed;
	size_t offset = 0;
	struct err why;

	assert_true(batch_next(&append->events, &offset, &packed));
	assert_int_equal(offset, append->events.size);
	assert_return_code(
	    wire_decode(MSG_audit_event, &(struct packed){ .body = packed }, &event, &why), 0);
	note(&event);
	message_clear(MSG_audit_event, &event);
	return 1;
}

/* ---- files ---- */

static void
store(const char *name, const char *text, mode_t mode)
{
	struct err e;

	assert_int_equal(fdio_store(directory_fd, name, text, strlen(text), mode, &e), 0);
	clock_ms += 1001;
}

static char *
line_of(const char *name, const char *expires)
{
	struct token entry = { .identity.scopes = SCOPES_USUAL };

	strcpy(entry.name, name);
	snprintf(entry.identity.owner.principal, sizeof entry.identity.owner.principal, "token:%s",
	    name);
	token_digest(token, strlen(token), entry.digest);
	return token_line(&entry, expires);
}

static void
store_token(const char *name, const char *expires)
{
	auto_free char *line = line_of(name, expires);

	store(AUTH_TOKENS, line, 0600);
}

static int
set_up(void **state)
{
	struct err e;

	(void)state;
	options = (struct options){ .credentials = mkdtemp(directory),
		.issuer = (char *)(uintptr_t)ISSUER,
		.resource = (char *)(uintptr_t)RESOURCE,
		.namespace_claim = (char *)(uintptr_t) "org",
		.leeway_s = 30 };
	directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	token_make(token);
	sprintf(bearer, "Bearer %s", token);
	key = issuer_key("ES256", "one");

	auto_free char *set = issuer_set(key, NULL);

	store(AUTH_KEYS, set, 0600);
	store_token("ci", NULL);
	if (auth_open(&e) == 0)
		return 0;
	fputs(e.text, stderr);
	return -1;
}

static int
tear_down(void **state)
{
	(void)state;
	auth_close();
	json_decref(key);
	unlinkat(directory_fd, AUTH_KEYS, 0);
	unlinkat(directory_fd, AUTH_TOKENS, 0);
	close(directory_fd);
	return rmdir(directory);
}

static char *
signed_token(const char *more)
{
	auto_free char *payload = NULL, *text = NULL;
	char *header;

	must(asprintf(&payload,
		 "{\"iss\":\"" ISSUER "\",\"aud\":\"" RESOURCE "\",\"exp\":%lld,\"sub\":\"ann\"%s}",
		 (long long)time(NULL) + 60, more) > 0);
	text = issuer_sign("{\"alg\":\"ES256\",\"kid\":\"one\"}", payload, key);
	must(asprintf(&header, "Bearer %s", text) > 0);
	return header;
}

static enum err_code
code_of(const char *header, const char *address, struct err *e)
{
	struct identity who;

	if (auth_check(header, address, &who, e) == 0)
		return ERR_none;
	assert_string_equal(who.owner.principal, "");
	assert_int_equal(who.scopes, 0);
	assert_null(strstr(e->text, token));
	return e->code;
}

/* ---- tests ---- */

static void
knows_its_tokens(void **state)
{
	struct identity who;
	struct err e;

	(void)state;
	assert_int_equal(auth_check(bearer, "10.0.0.1", &who, &e), 0);
	assert_string_equal(who.owner.principal, "token:ci");
	assert_int_equal(who.scopes, SCOPES_USUAL);
	assert_true(auth_valid(&who));
	memcpy(bearer, "bEARER ", 7);
	assert_int_equal(auth_check(bearer, "10.0.0.1", &who, &e), 0);
	memcpy(bearer, "Bearer ", 7);
}

static void
knows_the_issuers(void **state)
{
	auto_free char *header =
	    signed_token(",\"org\":\"blue\",\"scope\":\"cloister:read openid\"");
	struct identity first, second;
	struct err e;

	(void)state;
	assert_int_equal(auth_check(header, "10.0.0.1", &first, &e), 0);
	assert_int_equal(auth_check(header, "10.0.0.1", &second, &e), 0); /* without libjose */
	assert_memory_equal(&first, &second, sizeof first);
	assert_string_equal(first.owner.principal, "oauth:" ISSUER "#ann");
	assert_string_equal(first.owner.namespace, "blue");
	assert_int_equal(first.scopes, 1 << scope_read);
	assert_int_equal(auth_require(&first, 1 << scope_read, &e), 0);
	assert_int_equal(auth_require(&first, 1 << scope_run | 1 << scope_read, &e), -1);
	assert_int_equal(challenge_status(&e), 403);
	assert_string_equal(e.text, "the credentials lack cloister:run");
}

static void
says_what_is_wrong_with_a_header(void **state)
{
	static char big[AUTH_HEADER_MAX + 16] = "Bearer ";
	static const struct {
		const char *header;
		int status;
		const char *challenge; /* a part of it */
	} cases[] = {
		{ NULL, 401, "Bearer realm=\"cloister\", scope=\"cloister:monitor cloister:read" },
		{ "", 401, "Bearer realm=\"cloister\", scope=" },
		{ "Basic YTpi", 401, "Bearer realm=\"cloister\", scope=" },
		{ "Bearerx", 401, "Bearer realm=\"cloister\", scope=" },
		{ "Bearer", 400, "error=\"invalid_request\"" },
		{ "Bearer ", 400, "error=\"invalid_request\"" },
		{ "Bearer a b", 400, "error=\"invalid_request\"" },
		{ "Bearer a,b", 400, "error=\"invalid_request\"" },
		{ "Bearer a\"b", 400, "error=\"invalid_request\"" },
		{ "Bearer \xff", 400, "error=\"invalid_request\"" },
		{ "Bearer =", 400, "error=\"invalid_request\"" },
		{ big, 400, "over the limit of 8192 bytes" },
		{ "Bearer cl_wrong", 401, "error=\"invalid_token\"" },
		{ "Bearer a.b.c", 401, "error=\"invalid_token\"" },
	};

	(void)state;
	memset(big + 7, 'a', sizeof big - 8);
	for (size_t i = 0; i < COUNT(cases); i++) {
		char challenge[CHALLENGE_TEXT];
		struct err e;

		throttle_clear();
		assert_int_not_equal(code_of(cases[i].header, "10.0.0.2", &e), ERR_none);
		challenge_text(&e, 0, challenge);
		if (challenge_status(&e) != cases[i].status ||
		    strstr(challenge, cases[i].challenge) == NULL ||
		    strstr(challenge, ", resource_metadata=\"https://box.example/.well-known/"
				      "oauth-protected-resource/mcp\"") == NULL)
			fail_msg("%.40s: %d %s", cases[i].header, challenge_status(&e), challenge);
	}
}

static void
describes_itself(void **state)
{
	json_t *document = json_loads(challenge_document(), JSON_REJECT_DUPLICATES, NULL);

	(void)state;
	assert_string_equal(challenge_path(), "/.well-known/oauth-protected-resource/mcp");
	assert_string_equal(json_string_value(json_object_get(document, "resource")), RESOURCE);
	assert_string_equal(json_string_value(json_array_get(
				json_object_get(document, "authorization_servers"), 0)),
	    ISSUER);
	assert_int_equal(
	    json_array_size(json_object_get(document, "scopes_supported")), SCOPE_COUNT);
	json_decref(document);
}

static void
names_all_scopes_of_a_refusal(void **state)
{
	char challenge[CHALLENGE_TEXT];
	struct identity nobody = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(auth_require(&nobody, 1 << scope_run | 1 << scope_read, &e), -1);
	challenge_text(&e, 1 << scope_run | 1 << scope_read, challenge);
	assert_string_equal(challenge,
	    "Bearer realm=\"cloister\", error=\"insufficient_scope\", error_description=\"the "
	    "credentials lack cloister:read cloister:run\", scope=\"cloister:read cloister:run\", "
	    "resource_metadata=\"https://box.example/.well-known/oauth-protected-resource/mcp\"");
}

/* Whoever is known comes in, even from where strangers keep knocking. */
static void
waits_after_failures(void **state)
{
	auto_free char *good = signed_token(",\"n\":1");
	struct err e;

	(void)state;
	throttle_clear();
	clock_ms += 1000; /* a new second */
	memset(&recorded, 0, sizeof recorded);
	for (unsigned i = 0; i < THROTTLE_MOST; i++)
		assert_int_equal(code_of("Bearer cl_wrong", "10.0.0.3", &e), ERR_unauthenticated);
	assert_int_equal(recorded.count, 10); /* a second's worth */
	assert_string_equal(recorded.code, "unauthenticated");
	assert_null(strstr(recorded.detail, "cl_wrong"));
	assert_non_null(strstr(recorded.detail, "10.0.0.3"));
	assert_int_equal(code_of("Bearer cl_wrong", "10.0.0.3", &e), ERR_rate_limited);
	assert_int_equal(challenge_status(&e), 429);
	assert_int_equal(e.retry_ms, STRIKE_MS);
	assert_int_equal(code_of(good, "10.0.0.3", &e), ERR_rate_limited);
	assert_int_equal(code_of(bearer, "10.0.0.3", &e), ERR_none);
	assert_int_equal(code_of("Bearer cl_wrong", "10.0.0.4", &e), ERR_unauthenticated);
	clock_ms += STRIKE_MS;
	assert_int_equal(code_of(good, "10.0.0.3", &e), ERR_none);
	assert_int_equal(code_of("Bearer cl_wrong", "10.0.0.3", &e), ERR_unauthenticated);
	assert_non_null(strstr(recorded.detail, "; 11 earlier denials not recorded"));
	assert_int_equal(code_of("Bearer cl_wrong", "10.0.0.3", &e), ERR_rate_limited);
	assert_int_equal(code_of(good, "10.0.0.3", &e), ERR_none); /* it is known by now */
}

static void
deny(void)
{
	struct err why = { .code = ERR_denied, .text = "no" };

	clock_ms += 1001; /* a second that has told of none */
	recorded.count = 0;
	denial_note(NULL, "10.0.0.9", &why);
}

/* Those that found no room are told of by the first that does, each once. */
static void
counts_what_was_not_recorded(void **state)
{
	struct err gone = { .code = ERR_unavailable, .text = "auditd is away" };

	(void)state;
	spool.there = true;
	deny();
	spool.full = true;
	for (int i = 0; i < 3; i++) {
		deny();
		assert_int_equal(recorded.count, 0);
	}
	spool.full = false;
	deny();
	assert_int_equal(recorded.count, 1);
	assert_non_null(strstr(recorded.detail, "; 3 earlier denials not recorded"));
	deny();
	assert_non_null(strstr(recorded.detail, "; 0 earlier denials not recorded"));
	spool.there = false;
	for (unsigned i = 0; i < 2; i++) {
		deny();
		assert_int_equal(recorded.count, 1);
		spool.asked.done(spool.asked.self, NULL, &gone);
	}
	assert_non_null(strstr(recorded.detail, "; 1 earlier denials not recorded"));
	deny();
	assert_non_null(strstr(recorded.detail, "; 2 earlier denials not recorded"));
}

static void
counts_networks(void **state)
{
	(void)state;
	throttle_clear();
	for (unsigned i = 0; i < THROTTLE_MOST; i++)
		throttle_add("2001:db8::1", clock_ms);
	assert_true(throttle_wait("2001:db8::ffff", clock_ms) > 0);
	assert_int_equal(throttle_wait("2001:db8:0:1::1", clock_ms), 0);
	for (unsigned i = 0; i < THROTTLE_MOST; i++)
		throttle_add("::ffff:10.1.2.3", clock_ms);
	assert_true(throttle_wait("10.1.2.3", clock_ms) > 0);
	assert_int_equal(throttle_wait("10.1.2.4", clock_ms), 0);
	assert_int_equal(throttle_wait("", clock_ms), 0);
}

/* A flood from everywhere leaves no room to hide, and takes none. */
static void
forgets_in_bounded_room(void **state)
{
	char address[32];

	(void)state;
	throttle_clear();
	for (unsigned i = 0; i < 100000; i++) {
		snprintf(address, sizeof address, "10.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255);
		throttle_add(address, clock_ms);
	}
	for (unsigned i = 0; i < 2 * THROTTLE_MOST; i++)
		throttle_add("10.9.9.9", clock_ms);
	assert_true(throttle_wait("10.9.9.9", clock_ms) > 0);
	assert_int_equal(throttle_wait("10.9.9.9", clock_ms + 2 * THROTTLE_MOST * STRIKE_MS), 0);
}

static void
sees_changes(void **state)
{
	struct identity who;
	struct err e;

	(void)state;
	throttle_clear();
	assert_int_equal(auth_check(bearer, "10.0.0.5", &who, &e), 0);
	store_token("other", NULL);
	assert_int_equal(code_of(bearer, "10.0.0.5", &e), ERR_none);
	assert_false(auth_valid(&who)); /* the token is another principal's now */
	store_token("ci", "2000-01-01");
	assert_int_equal(code_of(bearer, "10.0.0.5", &e), ERR_unauthenticated);
	assert_string_equal(e.text, "the token has expired");
	assert_false(auth_valid(&who));
	store_token("ci", NULL);
	assert_true(auth_valid(&who));
	store(AUTH_TOKENS, "nonsense", 0600); /* what was there stays */
	assert_true(auth_valid(&who));
	store(AUTH_TOKENS, "", 0644); /* others may read it: not looked at */
	assert_true(auth_valid(&who));
	store(AUTH_TOKENS, "", 0660);
	assert_true(auth_valid(&who));
	unlinkat(directory_fd, AUTH_TOKENS, 0);
	clock_ms += 1001;
	assert_false(auth_valid(&who));
	assert_int_equal(code_of(bearer, "10.0.0.5", &e), ERR_unauthenticated);
	store_token("ci", NULL);
	assert_true(auth_valid(&who));
}

static void
sees_new_keys(void **state)
{
	auto_free char *header = signed_token(""), *was = issuer_set(key, NULL);
	json_t *fresh = issuer_key("ES256", "two");
	auto_free char *set = issuer_set(fresh, NULL);
	struct identity who;
	struct err e;

	(void)state;
	throttle_clear();
	assert_int_equal(auth_check(header, "10.0.0.6", &who, &e), 0);
	store(AUTH_KEYS, was, 0600);
	assert_true(auth_valid(&who));
	store(AUTH_KEYS, set, 0600);
	assert_false(auth_valid(&who)); /* what it has open ends, too */
	assert_int_equal(code_of(header, "10.0.0.6", &e), ERR_unauthenticated);
	assert_string_equal(e.text, "the token's kid matches none of the issuer's keys");
	store(AUTH_KEYS, "{\"keys\":[]}", 0600);
	assert_int_equal(code_of(header, "10.0.0.6", &e), ERR_unauthenticated);
	unlinkat(directory_fd, AUTH_KEYS, 0);
	clock_ms += 1001;
	assert_int_equal(code_of(header, "10.0.0.6", &e), ERR_unavailable);
	assert_int_equal(challenge_status(&e), 503);
	store(AUTH_KEYS, was, 0600);
	assert_int_equal(code_of(header, "10.0.0.6", &e), ERR_none);
	json_decref(fresh);
}

static void
serves_the_anonymous_only_if_told(void **state)
{
	struct identity who;
	struct err e;

	(void)state;
	assert_false(auth_anonymous());
	options.anonymous = true;
	assert_int_equal(auth_check(NULL, "127.0.0.1", &who, &e), 0);
	assert_true(strncmp(who.owner.principal, "local:", 6) == 0);
	assert_int_equal(who.scopes, SCOPES_LOCAL);
	assert_int_equal(code_of("Bearer cl_wrong", "127.0.0.1", &e), ERR_unauthenticated);
	options.anonymous = false;
}

static void
refuses_bad_urls(void **state)
{
	static const struct {
		const char *issuer, *resource;
	} cases[] = {
		{ "http://id.example", RESOURCE },
		{ "http://localhost.evil.example", RESOURCE },
		{ "https://", RESOURCE },
		{ "https:///x", RESOURCE },
		{ "https://id.example?x", RESOURCE },
		{ "https://a@id.example", RESOURCE },
		{ ISSUER, "" },
		{ ISSUER, "https://box.example/mcp#x" },
		{ ISSUER, "https://box.example/\"" },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		options.issuer = (char *)(uintptr_t)cases[i].issuer;
		options.resource = (char *)(uintptr_t)cases[i].resource;
		if (auth_open(&e) == 0 || e.code != ERR_invalid_argument)
			fail_msg("%s %s", cases[i].issuer, cases[i].resource);
	}
	options.issuer = (char *)(uintptr_t) "http://[::1]:8080";
	options.resource = (char *)(uintptr_t) "http://127.0.0.1:9000/";
	auth_close();
	assert_int_equal(auth_open(&e), 0);
	assert_string_equal(challenge_path(), "/.well-known/oauth-protected-resource");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_its_tokens),
		cmocka_unit_test(knows_the_issuers),
		cmocka_unit_test(says_what_is_wrong_with_a_header),
		cmocka_unit_test(describes_itself),
		cmocka_unit_test(names_all_scopes_of_a_refusal),
		cmocka_unit_test(waits_after_failures),
		cmocka_unit_test(counts_what_was_not_recorded),
		cmocka_unit_test(counts_networks),
		cmocka_unit_test(forgets_in_bounded_room),
		cmocka_unit_test(sees_changes),
		cmocka_unit_test(sees_new_keys),
		cmocka_unit_test(serves_the_anonymous_only_if_told),
		cmocka_unit_test(refuses_bad_urls),
	};

	return cmocka_run_group_tests_name("auth", tests, set_up, tear_down);
}
