/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c - from index.json to the manifest, its configuration and its layers.  Trusts nothing in
 * the directory but what index.json names by digest. */
#include "compose/cloister/unpack/layout.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/hash.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

enum {
	JSON_MAX = 4 << 20,
	NESTED = 3, /* an index in an index */
	PIECE = 1 << 16,
};

static const char ref_name[] = "org.opencontainers.image.ref.name";

/* Names of architectures: uname(2), and Go's, which OCI uses. */
static const struct {
	const char *machine, *name;
} architectures[] = {
	{ "x86_64", "amd64" },
	{ "aarch64", "arm64" },
	{ "riscv64", "riscv64" },
	{ "ppc64le", "ppc64le" },
	{ "s390x", "s390x" },
};

static const char *
own_architecture(void)
{
	static struct utsname name;

	if (uname(&name) < 0)
		return "";
	for (size_t i = 0; i < COUNT(architectures); i++)
		if (strcmp(architectures[i].machine, name.machine) == 0)
			return architectures[i].name;
	return name.machine;
}

/* ---- blobs ---- */

static int
check_digest(int blob, const char *hex, struct err *e)
{
	static uint8_t piece[PIECE];
	char is[HASH_HEX];
	struct hash hash;
	ssize_t n;

	hash_begin(&hash);
	while ((n = read(blob, piece, sizeof piece)) > 0)
		hash_add(&hash, piece, (size_t)n);
	hash_end_hex(&hash, is);
	if (n < 0)
		return err_sys(e, "blobs/sha256/%s", hex);
	if (strcmp(is, hex) != 0)
		return err_set(e, ERR_invalid_argument,
		    "blobs/sha256/%s has other content than its name says", hex);
	return lseek(blob, 0, SEEK_SET) < 0 ? err_sys(e, "blobs/sha256/%s", hex) : 0;
}

static int
open_blob(const struct layout *layout, const json_t *descriptor, struct err *e)
{
	static const char algorithm[] = "sha256:";
	const char *digest = json_string_value(json_object_get(descriptor, "digest"));
	char path[128];

	if (digest == NULL || strncmp(digest, algorithm, sizeof algorithm - 1) != 0 ||
	    !hash_is_hex(digest + sizeof algorithm - 1))
		return err_set(e, ERR_invalid_argument, "the image names a blob not by its sha256");
	snprintf(path, sizeof path, "blobs/sha256/%s", digest + sizeof algorithm - 1);

	auto_fd int blob = fdio_open_inside(layout->directory, path, e);

	if (blob < 0 || check_digest(blob, digest + sizeof algorithm - 1, e) < 0)
		return -1;
	return take_fd(&blob);
}

static json_t *
parse(const struct blob *text, const char *what, struct err *e)
{
	json_error_t error;
	json_t *json = json_loadb(text->data, text->size, JSON_REJECT_DUPLICATES, &error);

	if (json == NULL)
		err_set(e, ERR_invalid_argument, "%s is no JSON: %.100s", what, error.text);
	return json;
}

static json_t *
read_blob(const struct layout *layout, const json_t *descriptor, const char *what, struct err *e)
{
	auto_fd int file = open_blob(layout, descriptor, e);
	struct blob text = { 0 };
	json_t *json;

	if (file < 0 || fdio_load_open(file, what, JSON_MAX, &text, e) < 0)
		return NULL;
	json = parse(&text, what, e);
	blob_clear(&text);
	return json;
}

/* ---- which one ---- */

static bool
is_index(const json_t *descriptor)
{
	const char *type = json_string_value(json_object_get(descriptor, "mediaType"));

	return type != NULL && (strstr(type, ".index.") != NULL || strstr(type, ".list.") != NULL);
}

static bool
has_tag(const json_t *descriptor, const char *tag)
{
	const char *name = json_string_value(
	    json_object_get(json_object_get(descriptor, "annotations"), ref_name));

	return tag == NULL || (name != NULL && strcmp(name, tag) == 0);
}

/* Without a platform it is asked of the image's configuration. */
static bool
may_run(const json_t *descriptor)
{
	const json_t *platform = json_object_get(descriptor, "platform");
	const char *name = json_string_value(json_object_get(platform, "architecture"));
	const char *os = json_string_value(json_object_get(platform, "os"));

	return name == NULL ||
	       (strcmp(name, own_architecture()) == 0 && os != NULL && strcmp(os, "linux") == 0);
}

static const json_t *
choose(const json_t *index, const char *tag, struct err *e)
{
	const json_t *manifests = json_object_get(index, "manifests"), *chosen = NULL;
	size_t found = 0;

	for (size_t i = 0; i < json_array_size(manifests); i++) {
		const json_t *one = json_array_get(manifests, i);

		if (!has_tag(one, tag) || !may_run(one))
			continue;
		if (found++ == 0)
			chosen = one;
	}
	if (found == 1 || (found > 1 && tag != NULL))
		return chosen;
	err_set(e, found == 0 ? ERR_not_found : ERR_invalid_argument,
	    found == 0
		? "the directory has no image %s%.100s for linux/%s"
		: "the directory has several images; name one: oci-layout:DIRECTORY:TAG%s%.0s%.0s",
	    tag != NULL ? "with the tag " : "", tag != NULL ? tag : "", own_architecture());
	return NULL;
}

static int
find_manifest(struct layout *layout, json_t *index, const char *tag, struct err *e)
{
	for (int nested = 0; nested < NESTED && index != NULL; nested++) {
		const json_t *descriptor = choose(index, tag, e);
		json_t *next =
		    descriptor == NULL ? NULL : read_blob(layout, descriptor, "a manifest", e);
		bool again = descriptor != NULL && is_index(descriptor);

		json_decref(index);
		index = next;
		tag = NULL;
		if (!again) {
			layout->manifest = next;
			return next == NULL ? -1 : 0;
		}
	}
	json_decref(index);
	return index == NULL ? -1
	                     : err_set(e, ERR_limit_exceeded, "too many indexes in each other");
}

static int
check_architecture(const struct layout *layout, struct err *e)
{
	const char *name = json_string_value(json_object_get(layout->config, "architecture"));

	if (name != NULL && strcmp(name, own_architecture()) == 0)
		return 0;
	return err_set(e, ERR_invalid_argument, "the image is for %.32s, this machine is %s",
	    name != NULL ? name : "no architecture", own_architecture());
}

static int
check_layers(const struct layout *layout, struct err *e)
{
	size_t n = layout_layers(layout);

	return n >= 1 && n <= LAYOUT_LAYERS
	           ? 0
	           : err_set(e, ERR_invalid_argument, "the image has %zu layers, not 1 to %d", n,
			 LAYOUT_LAYERS);
}

int
layout_open(struct layout *layout, const char *tag, struct err *e)
{
	struct blob text = { 0 };

	layout->config = layout->manifest = NULL;
	if (fdio_load(layout->directory, "index.json", JSON_MAX, &text, e) < 0)
		return err_add(e, "no OCI layout");

	json_t *index = parse(&text, "index.json", e);

	blob_clear(&text);
	if (index == NULL || find_manifest(layout, index, tag, e) < 0)
		return -1;
	layout->config =
	    read_blob(layout, json_object_get(layout->manifest, "config"), "the configuration", e);
	if (layout->config == NULL || check_architecture(layout, e) < 0)
		return -1;
	return check_layers(layout, e);
}

size_t
layout_layers(const struct layout *layout)
{
	return json_array_size(json_object_get(layout->manifest, "layers"));
}

int
layout_layer(const struct layout *layout, size_t number, struct err *e)
{
	return open_blob(
	    layout, json_array_get(json_object_get(layout->manifest, "layers"), number), e);
}

void
layout_clear(struct layout *layout)
{
	json_decref(layout->config);
	json_decref(layout->manifest);
	layout->config = layout->manifest = NULL;
}
