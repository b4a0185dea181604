/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_golden.c - samples of every message of the table: bytes, frames and JSON.
 *
 * hashes.txt has a hash of the samples of each message.  A change there is a change of what builds
 * say to each other and to clients.  Where it is meant:  test_golden --hashes >
 * tests/wire/hashes.txt.  What has changed shows in the difference of --print of both builds.
 */
#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/codec/jschema.h"
#include "tests/wire/each.h"
#include "tests/wire/sample.h"

#include <msgpack.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { SHOWN = 16 }; /* digits of a hash */

static char *hashes; /* the file's text */

static void
print_hex(FILE *to, const char *what, const struct blob *b)
{
	fprintf(to, "\t%s ", what);
	for (size_t i = 0; i < b->size; i++)
		fprintf(to, "%02x", ((const unsigned char *)b->data)[i]);
	fputc('\n', to);
}

static char *
print_json(enum msg_id id, const void *msg)
{
	json_t *json = jschema_write(id, msg);
	char *text = json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII);

	must(text != NULL);
	json_decref(json);
	return text;
}

/* All of a sample, as text. */
static char *
print_sample(enum msg_id id, enum sample how)
{
	void *msg = sample_new(id, how);
	auto_free char *json = print_json(id, msg);
	struct packed p = sample_packed(id, how);
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	must(to != NULL);
	fprintf(to, "%s %s\n", messages[id].name, sample_names[how]);
	print_hex(to, "body", &p.body);
	for (size_t i = 0; i < p.count; i++)
		print_hex(to, "frame", &p.blobs[i]);
	fprintf(to, "\tjson %s\n", json);
	must(fclose(to) == 0);
	sample_free(id, msg);
	packed_clear(&p);
	return text;
}

static char *
print_all(void)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	must(to != NULL);
	for (int id = MSG_none + 1; id < MSG_COUNT; id++) {
		for (int how = 0; how < SAMPLE_COUNT; how++) {
			auto_free char *one = print_sample(id, how);

			fputs(one, to);
		}
	}
	must(fclose(to) == 0);
	return text;
}

/* A line of hashes.txt, from malloc. */
static char *
print_hash(enum msg_id id)
{
	char hex[HASH_HEX], *line = NULL;
	struct hash hash;

	hash_begin(&hash);
	for (int how = 0; how < SAMPLE_COUNT; how++) {
		auto_free char *one = print_sample(id, how);

		hash_add(&hash, one, strlen(one));
	}
	hash_end_hex(&hash, hex);
	must(asprintf(&line, "%s %.*s\n", messages[id].name, SHOWN, hex) > 0);
	return line;
}

static char *
print_hashes(void)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	must(to != NULL);
	for (int id = MSG_none + 1; id < MSG_COUNT; id++) {
		auto_free char *one = print_hash(id);

		fputs(one, to);
	}
	must(fclose(to) == 0);
	return text;
}

static void
has_its_hash(void **state)
{
	auto_free char *one = print_hash(each_id(state));

	if (strstr(hashes, one) == NULL)
		fail_msg("hashes.txt does not have: %s", one);
}

static void
survives_the_wire(void **state)
{
	enum msg_id id = each_id(state);

	for (int how = 0; how < SAMPLE_COUNT; how++) {
		struct packed once = sample_packed(id, how), sent = sample_copy(&once), twice;
		void *msg = sample_empty(id);
		struct err e = { 0 };

		if (wire_decode(id, &sent, msg, &e) < 0)
			fail_msg("%s", e.text);
		for (size_t i = 0; i < sent.count; i++)
			assert_null(sent.blobs[i].data);
		assert_int_equal(wire_encode(id, msg, &twice, &e), 0);
		assert_true(sample_same(&once, &twice));
		assert_in_range(twice.body.size, 0, wire_bounds(id).part);
		for (size_t i = 0; i < twice.count; i++)
			assert_in_range(twice.blobs[i].size, 0, wire_bounds(id).part);
		sample_free(id, msg);
		packed_clear(&once);
		packed_clear(&sent);
		packed_clear(&twice);
	}
}

static void
survives_json(void **state)
{
	enum msg_id id = each_id(state);

	for (int how = 0; how < SAMPLE_COUNT; how++) {
		void *msg = sample_new(id, how), *read = sample_empty(id);
		json_t *json = jschema_write(id, msg);
		struct packed once = sample_packed(id, how), twice;
		struct err e = { 0 };

		assert_non_null(json);
		if (jschema_read_own(id, json, read, &e) < 0 ||
		    wire_encode(id, read, &twice, &e) < 0)
			fail_msg("%s", e.text);
		assert_true(sample_same(&once, &twice));
		json_decref(json);
		sample_free(id, msg);
		sample_free(id, read);
		packed_clear(&once);
		packed_clear(&twice);
	}
}

/* The library that others would use reads it too, to the last byte. */
static void
is_msgpack(void **state)
{
	for (int how = 0; how < SAMPLE_COUNT; how++) {
		struct packed p = sample_packed(each_id(state), how);
		msgpack_unpacked u;
		size_t used = 0;

		msgpack_unpacked_init(&u);
		assert_int_equal(msgpack_unpack_next(&u, p.body.data, p.body.size, &used),
		    MSGPACK_UNPACK_SUCCESS);
		assert_int_equal(used, p.body.size);
		assert_int_equal(u.data.type, MSGPACK_OBJECT_MAP);
		msgpack_unpacked_destroy(&u);
		packed_clear(&p);
	}
}

/* A log line shows no content: no sample's text may stand in it, nor break it. */
static void
describes_itself(void **state)
{
	enum msg_id id = each_id(state);
	void *msg = sample_new(id, SAMPLE_FULL);
	char line[4096], shortened[16];

	wire_describe(id, msg, line, sizeof line);
	assert_int_equal(strncmp(line, messages[id].name, strlen(messages[id].name)), 0);
	assert_null(strchr(line, '\n'));
	assert_null(strchr(line, '"'));
	assert_int_equal(line[strlen(line) - 1], '}');
	wire_describe(id, msg, shortened, sizeof shortened);
	assert_int_equal(strncmp(line, shortened, sizeof shortened - 1), 0);
	sample_free(id, msg);
}

static void
there_is_no_other_hash(void **state)
{
	auto_free char *all = print_hashes();

	(void)state;
	assert_string_equal(hashes, all);
}

/* For schemas.py: a line of JSON for each message. */
static int
print_schemas(void)
{
	for (int id = MSG_none + 1; id < MSG_COUNT; id++) {
		json_t *line = json_pack("{s:s, s:o, s:o}", "message", messages[id].name, "input",
		    jschema_input(id), "output", jschema_output(id));

		must(line != NULL);
		if (json_dumpf(line, stdout, JSON_COMPACT) < 0 || putchar('\n') < 0)
			return 1;
		json_decref(line);
	}
	return 0;
}

static char *
load_hashes(void)
{
	FILE *from = fopen(HASHES, "re");
	char *text = NULL;
	size_t size = 0;

	if (from == NULL || getdelim(&text, &size, 0, from) < 0) {
		perror(HASHES);
		exit(1);
	}
	fclose(from);
	return text;
}

int
main(int argc, char **argv)
{
	static const struct check checks[] = {
		{ "has its hash", has_its_hash },
		{ "survives the wire", survives_the_wire },
		{ "survives JSON", survives_json },
		{ "is msgpack", is_msgpack },
		{ "describes itself", describes_itself },
	};

	if (argc == 2 && (strcmp(argv[1], "--print") == 0 || strcmp(argv[1], "--hashes") == 0)) {
		auto_free char *all = argv[1][2] == 'p' ? print_all() : print_hashes();

		return fputs(all, stdout) < 0;
	}
	if (argc == 2 && strcmp(argv[1], "--schemas") == 0)
		return print_schemas();
	hashes = load_hashes();

	int failed = each_run("golden", checks, COUNT(checks), there_is_no_other_hash);

	free(hashes);
	return failed;
}
