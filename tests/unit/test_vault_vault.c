/* SPDX-License-Identifier: Apache-2.0 */
/* test_vault_vault.c - no value leaves and no secret changes without its event, and a value that
 * was handled is overwritten. */
#include "vault_setup.h"

#include "executor/vault/backend.h"
#include "executor/vault/vault.h"

#include "common/journal/spool.h"

int __wrap_spool_record(struct audit_event *event, struct err *e);
void __wrap_call_reply(struct call *call, void *reply);
void __wrap_sodium_memzero(void *data, size_t size);
void __real_sodium_memzero(void *data, size_t size);

static struct {
	bool full; /* the spool */
	int event;
	char detail[256];
	size_t replies, wiped; /* values that were overwritten */
	char value[64];        /* of the first secret in the last reply */
} seen;

static struct call call = { .owner = { "local:1000", "" } };

int
__wrap_spool_record(struct audit_event *event, struct err *e)
{
	if (seen.full)
		return err_set(e, ERR_unavailable, "the spool is full");
	seen.event = event->event;
	snprintf(seen.detail, sizeof seen.detail, "%s", event->detail);
	return 0;
}

void
__wrap_call_reply(struct call *of, void *reply)
{
	const struct vault_values *values = reply;

	seen.replies++;
	if (of->message == MSG_vault_reveal && values->values.count > 0)
		snprintf(seen.value, sizeof seen.value, "%.*s",
		    (int)values->values.items[0].value.size,
		    (char *)values->values.items[0].value.data);
}

void
__wrap_sodium_memzero(void *data, size_t size)
{
	seen.wiped += size == strlen("first value") && memcmp(data, "first value", size) == 0;
	__real_sodium_memzero(data, size);
}

static int
set_up(void **unused)
{
	struct err e;

	memset(&seen, 0, sizeof seen);
	call.message = MSG_none;
	call.owner = ann;
	return vault_set_up(unused) < 0 || backend_open(&e) < 0 ||
	               backend_start(vault_state, &e) < 0
	           ? -1
	           : 0;
}

static int
tear_down(void **unused)
{
	backend_close();
	return vault_tear_down(unused);
}

static int
add(const char *value, bool exists)
{
	struct vault_add ask = {
		.name = (char *)(uintptr_t) "TOKEN", .value = blob_text(value), .exists = exists
	};
	struct err e;
	int status = vault_on_vault_add(&call, &ask, &e);

	assert_null(ask.value.data);
	return status;
}

static int delete (void)
{
	struct vault_delete ask = { .name = (char *)(uintptr_t) "TOKEN" };
	struct err e;

	return vault_on_vault_delete(&call, &ask, &e);
}

static int
reveal(enum err_code *code)
{
	char *names[] = { (char *)(uintptr_t) "TOKEN" };
	struct vault_reveal ask = { .names = { names, 1 } };
	struct err e = { 0 };
	int status;

	call.message = MSG_vault_reveal;
	status = vault_on_vault_reveal(&call, &ask, &e);
	call.message = MSG_none;
	*code = e.code;
	return status;
}

static void
each_change_and_each_use_has_its_event(void **unused)
{
	enum err_code code;

	(void)unused;
	assert_int_equal(add("first value", true), -1);
	assert_int_equal(add("first value", false), 0);
	assert_int_equal(seen.event, event_vault_changed);
	assert_string_equal(seen.detail, "TOKEN is added");
	assert_int_equal(add("second value", true), 0);
	assert_string_equal(seen.detail, "TOKEN is replaced");
	assert_int_equal(reveal(&code), 0);
	assert_int_equal(seen.event, event_vault_accessed);
	assert_string_equal(seen.detail, "TOKEN");
	assert_string_equal(seen.value, "second value");
	assert_int_equal(delete (), 0);
	assert_int_equal(seen.event, event_vault_changed);
	assert_string_equal(seen.detail, "TOKEN is deleted");
	assert_int_equal(seen.replies, 4);
	assert_int_equal(reveal(&code), -1);
	assert_int_equal(code, ERR_secret_not_found);
}

static void
values_are_overwritten(void **unused)
{
	enum err_code code;

	(void)unused;
	assert_int_equal(add("first value", false), 0);
	assert_int_equal(seen.wiped, 1);
	assert_int_equal(add("first value", true), 0);
	assert_int_equal(seen.wiped, 2);
	assert_int_equal(reveal(&code), 0);
	assert_int_equal(seen.wiped, 3);
	seen.full = true;
	assert_int_equal(add("first value", true), -1);
	assert_int_equal(reveal(&code), -1);
	assert_int_equal(seen.wiped, 5);
}

static void
without_an_event_nothing_happens(void **unused)
{
	struct vault_rekey nothing = { 0 };
	uint8_t key[KEY_BYTES];
	enum err_code code;
	struct err e;

	(void)unused;
	assert_int_equal(add("first value", false), 0);
	memcpy(key, key_at(0), sizeof key);
	seen.replies = 0;
	seen.full = true;
	assert_int_equal(add("second value", false), -1);
	assert_int_equal(delete (), -1);
	assert_int_equal(vault_on_vault_rekey(&call, &nothing, &e), -1);
	assert_int_equal(reveal(&code), -1);
	assert_int_equal(code, ERR_unavailable);
	assert_int_equal(seen.replies, 0);
	assert_memory_equal(key_at(0), key, sizeof key);
	vault_expect(&ann, "TOKEN", "first value");
	seen.full = false;
	assert_int_equal(reveal(&code), 0);
	assert_string_equal(seen.value, "first value");
}

static void
others_have_other_secrets(void **unused)
{
	struct vault_rekey nothing = { 0 };
	enum err_code code;
	struct err e;

	(void)unused;
	assert_int_equal(add("of ann", false), -1); /* too short */
	assert_int_equal(add("value of ann", false), 0);
	call.owner = ann_work;
	assert_int_equal(reveal(&code), -1);
	assert_int_equal(delete (), -1);
	call.owner = bob;
	assert_int_equal(reveal(&code), -1);
	assert_int_equal(vault_on_vault_rekey(&call, &nothing, &e), -1);
	assert_int_equal(e.code, ERR_denied);
	call.owner = ann;
	assert_int_equal(vault_on_vault_rekey(&call, &nothing, &e), 0);
	assert_int_equal(reveal(&code), 0);
	assert_string_equal(seen.value, "value of ann");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_change_and_each_use_has_its_event),
		TEST(values_are_overwritten),
		TEST(without_an_event_nothing_happens),
		TEST(others_have_other_secrets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
