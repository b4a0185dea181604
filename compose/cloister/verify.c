/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.c - verifies that a file matches the signed artifact of a run. Trusts the given key or the
 * one in this machine's state directory, but neither the file nor the JSON.
 */
#include "compose/cloister/verify.h"

#include "compose/cloister/place.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/hash.h"
#include "common/base/utf8.h"
#include "common/codec/jschema.h"
#include "common/crypto/seal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum {
	JSON_BYTES = 64 << 20,
	READ_BYTES = 64 << 10,
	ARTIFACT_DEPTH = 8, /* nesting depth of an artifact: that of a reply, with a margin */
};

struct question {
	const char *file, *json;
	char key[SEAL_KEY];
};

static int
hash_file(const char *path, char hex[HASH_HEX], uint64_t *size, struct err *e)
{
	static char part[READ_BYTES];
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct hash hash;
	ssize_t n;

	if (fd < 0)
		return err_sys(e, "open %s", path);
	hash_begin(&hash);
	for (*size = 0; (n = read(fd, part, sizeof part)) > 0; *size += (uint64_t)n)
		hash_add(&hash, part, (size_t)n);
	if (n < 0)
		return err_sys(e, "read %s", path);
	hash_end_hex(&hash, hex);
	return 0;
}

/* The artifact with that digest at any depth: alone, or in a reply. */
static const json_t *
find(json_t *in, const char *sha256, int depth)
{
	const char *digest = json_string_value(json_object_get(in, "sha256")), *key;
	const json_t *found = NULL;
	json_t *item;
	size_t i;

	if (digest != NULL && strcmp(digest, sha256) == 0 &&
	    json_object_get(in, "signature") != NULL)
		return in;
	if (depth == 0)
		return NULL;
	json_object_foreach(in, key, item)
	{
		if (found == NULL)
			found = find(item, sha256, depth - 1);
	}
	json_array_foreach(in, i, item)
	{
		if (found == NULL)
			found = find(item, sha256, depth - 1);
	}
	return found;
}

/* "-": stdin. */
static json_t *
load_json(const char *path, struct err *e)
{
	struct blob text = { 0 };
	json_error_t why;
	json_t *json;

	if (strcmp(path, "-") == 0) {
		json = json_loadf(stdin, JSON_REJECT_DUPLICATES, &why);
	} else {
		if (fdio_load_given(path, JSON_BYTES, &text, e) < 0)
			return NULL;
		json = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &why);
		blob_clear(&text);
	}
	if (json == NULL)
		err_set(e, ERR_invalid_argument, "%s: line %d: %s", path, why.line, why.text);
	return json;
}

static int
check(const struct question *q, json_t *json, struct artifact *artifact, struct err *e)
{
	char digest[HASH_HEX];
	uint64_t size = 0;

	if (hash_file(q->file, digest, &size, e) < 0)
		return -1;

	const json_t *found = find(json, digest, ARTIFACT_DEPTH);

	if (found == NULL)
		return err_set(e, ERR_denied,
		    "no signed artifact in %s has this content (sha256 %s)", q->json, digest);
	if (jschema_read(MSG_artifact, found, artifact, e) < 0)
		return err_add(e, "%s", q->json);
	if (artifact->size != size)
		return err_set(e, ERR_denied,
		    "the file has %zu bytes, which is not the size of the artifact", size);
	return seal_verify(artifact, q->key, e);
}

/* The executor's key on this machine. */
static int
load_key(struct question *q, struct err *e)
{
	auto_free char *path = NULL;
	struct blob text = { 0 };

	if (asprintf(&path, "%s/executor/artifact.pub", place.state) < 0)
		return err_sys(e, "path");
	if (fdio_load(AT_FDCWD, path, SEAL_KEY, &text, e) < 0)
		return err_add(e, "no --key given, and no key at %s", path);
	snprintf(q->key, sizeof q->key, "%s", (const char *)text.data);
	blob_clear(&text);
	return 0;
}

/* The holder of the key may have signed any name, and it is printed to an operator's terminal. */
static void
show(const struct question *q, struct artifact *artifact)
{
	utf8_tame(artifact->filename);
	utf8_tame(artifact->execution_id);
	utf8_tame(artifact->signed_at);
	printf("%s: good: %s of %s, signed %s\n", q->file, artifact->filename,
	    artifact->execution_id, artifact->signed_at);
}

static int
verify(struct question *q, struct err *e)
{
	struct artifact artifact = { 0 };

	if (q->key[0] == 0 && load_key(q, e) < 0)
		return -1;

	json_t *json = load_json(q->json, e);
	int status = json == NULL ? -1 : check(q, json, &artifact, e);

	if (status == 0)
		show(q, &artifact);
	message_clear(MSG_artifact, &artifact);
	json_decref(json);
	return status;
}

/* sha256: 64 digits of either case. */
static int
verify_digest(const struct question *q, const char *sha256, struct err *e)
{
	char digest[HASH_HEX];
	uint64_t size;

	if (hash_file(q->file, digest, &size, e) < 0)
		return -1;
	if (strcasecmp(digest, sha256) != 0)
		return err_set(e, ERR_denied, "its sha256 is %s", digest);
	printf("%s: good: sha256 %s; a digest alone does not prove who made the file\n", q->file,
	    digest);
	return 0;
}

/* Is it a digest, not a file? */
static bool
is_digest(const char *text)
{
	return strlen(text) == HASH_HEX - 1 &&
	       strspn(text, "0123456789abcdefABCDEF") == HASH_HEX - 1;
}

/* Removes the arguments that are not settings from the command line; false: wrong arguments. */
static bool
take_arguments(struct question *q, int *argc, char **argv)
{
	int rest = 1;

	for (int i = 1; i < *argc; i++) {
		bool flag = strncmp(argv[i], "--", 2) == 0;

		if (strncmp(argv[i], "--key=", 6) == 0) {
			if (snprintf(q->key, sizeof q->key, "%s", argv[i] + 6) >= SEAL_KEY)
				return false;
		} else if (!flag && q->file == NULL)
			q->file = argv[i];
		else if (!flag && q->json == NULL)
			q->json = argv[i];
		else
			argv[rest++] = argv[i];
	}
	argv[rest] = NULL;
	*argc = rest;
	return q->json != NULL;
}

int
verify_file(int argc, char **argv)
{
	struct question q = { 0 };
	struct err e;
	bool whole = take_arguments(&q, &argc, argv);

	place_load("check a downloaded file against its artifact", argc, argv);
	if (!whole) {
		fputs("usage: cloister verify [--key=BASE64] FILE ARTIFACT.json|SHA256|-\n"
		      "       cloister verify [--key=KEY] LOG --since=CHECKPOINT|@FILE\n",
		    stderr);
		return 2;
	}

	int status = is_digest(q.json) ? verify_digest(&q, q.json, &e) : verify(&q, &e);

	if (status == 0)
		return 0;
	fprintf(stderr, "%s: not verified: %s\n", q.file, e.text);
	return 1;
}
