/* SPDX-License-Identifier: Apache-2.0 */
/* test_owner.c - an owner is a principal and a namespace together, each within its bound. */
#include "common/base/owner.h"

#include "common/base/auto.h"
#include "common/table/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
both_must_be_equal(void **state)
{
	static const struct owner ann = { "ann", "build" };
	static const struct {
		struct owner other;
		bool equal;
	} cases[] = {
		{ { "ann", "build" }, true },
		{ { "ann", "" }, false },
		{ { "ann", "Build" }, false },
		{ { "bob", "build" }, false },
		{ { "annbuild", "" }, false },
		{ { "", "build" }, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(owner_equal(&ann, &cases[i].other), cases[i].equal);
}

/* A text that is cut could be another owner's. */
static void
no_text_is_cut(void **state)
{
	char principal[OWNER_PRINCIPAL + 1] = { 0 }, namespace[OWNER_NAMESPACE + 1] = { 0 };
	struct owner owner = { "bob", "other" };

	(void)state;
	memset(principal, 'p', OWNER_PRINCIPAL);
	memset(namespace, 'n', OWNER_NAMESPACE);
	assert_false(owner_set(&owner, principal, "n"));
	assert_false(owner_set(&owner, "p", namespace));
	assert_string_equal(owner.principal, "bob");
	assert_string_equal(owner.namespace, "other");
	principal[OWNER_PRINCIPAL - 1] = namespace[OWNER_NAMESPACE - 1] = 0;
	assert_true(owner_set(&owner, principal, namespace));
	assert_string_equal(owner.principal, principal);
	assert_string_equal(owner.namespace, namespace);
	assert_true(owner_set(&owner, "ann", NULL));
	assert_true(owner_equal(&owner, &(struct owner){ "ann", "" }));
	assert_true(owner_set(&owner, NULL, NULL));
	assert_true(owner_equal(&owner, &(struct owner){ 0 }));
}

/* Ids and directories of earlier versions are made from these bytes. */
static void
keys_are_both_texts_with_their_zero_bytes(void **state)
{
	static const struct {
		struct owner owner;
		const char *key;
		size_t size;
	} cases[] = {
		{ { "ann", "build" }, "ann\0build", 10 },
		{ { "ann", "" }, "ann\0", 5 },
		{ { "annb", "uild" }, "annb\0uild", 10 },
		{ { "", "" }, "\0", 2 },
	};
	char key[OWNER_KEY];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(owner_key(&cases[i].owner, key), cases[i].size);
		assert_memory_equal(key, cases[i].key, cases[i].size);
	}
}

static int64_t
bound(enum msg_id id, const char *name)
{
	const struct message *m = &messages[id];

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		if (strcmp(f->name, name) == 0)
			return f->high;
	fail_msg("%s has no %s", m->name, name);
	return 0;
}

/* So the bus can store every envelope that it decoded. */
static void
messages_have_the_same_bounds(void **state)
{
	static const enum msg_id ids[] = { MSG_envelope, MSG_changed, MSG_audit_event };

	(void)state;
	for (size_t i = 0; i < COUNT(ids); i++) {
		assert_int_equal(bound(ids[i], "principal"), OWNER_PRINCIPAL - 1);
		assert_int_equal(bound(ids[i], "namespace"), OWNER_NAMESPACE - 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_must_be_equal),
		cmocka_unit_test(no_text_is_cut),
		cmocka_unit_test(keys_are_both_texts_with_their_zero_bytes),
		cmocka_unit_test(messages_have_the_same_bounds),
	};

	return cmocka_run_group_tests_name("owner", tests, NULL, NULL);
}
