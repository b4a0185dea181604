/* SPDX-License-Identifier: Apache-2.0 */
/* isolation.c - names of the layers of a box; trusts the builder's report of those in force. */
#include "executor/sandbox/builder_link.h"

#include "common/base/auto.h"
#include "executor/builder/containers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const limits_by[] = {
	[LIMITS_RLIMIT] = "rlimit",
	[LIMITS_CGROUP1] = "cgroup1",
	[LIMITS_CGROUP2] = "cgroup2",
};

/* clang-format off */
static char titles[CONTAINER_COUNT][96] = {
#define CONTAINER(name, ...) [CONTAINER_##name] = #name,
#include "executor/builder/containers.def"
};
/* clang-format on */

void
isolation_entitle(uint32_t container, const char *title)
{
	must(container < CONTAINER_COUNT);
	snprintf(titles[container], sizeof titles[container], "%s", title);
}

const char *
isolation_title(uint32_t container)
{
	return container < CONTAINER_COUNT ? titles[container] : titles[CONTAINER_none];
}

/* The names of the layers that replace a cgroup. */
static const char *const alone[LAYER_COUNT] = {
	[LAYER_memory_limit] =
	    "no cgroup is delegated to this user; the builder polls the usage and kills",
	[LAYER_process_limit] = "no cgroup is delegated to this user",
	[LAYER_cpu_limit] = "no cpu cgroup is delegated; programs are bound to whole processors",
};

static const char *
reason(const struct layers *layers, enum layer layer)
{
	if (layer == LAYER_own_uid)
		return "not started as root, so all boxes have the uid of this user";
	if (alone[layer] != NULL &&
	    (layers->limits_by == LIMITS_RLIMIT || layers->why[layer] == ENOENT))
		return alone[layer];
	return layers->why[layer] != 0 ? strerrordesc_np(layers->why[layer]) : "not verified";
}

static int
add_missing(const struct layers *layers, enum layer layer, struct texts *missing)
{
	char text[160];

	snprintf(text, sizeof text, "%s: %s", layer_name(layer), reason(layers, layer));
	return texts_add(missing, text);
}

int
isolation_of(const struct layers *layers, struct isolation *out)
{
	uint32_t by = layers->limits_by <= LIMITS_CGROUP2 ? layers->limits_by : LIMITS_RLIMIT;

	*out = (struct isolation){
		.backend = strdup(layers->container != 0 ? "oci" : "box"),
		.limits_by = strdup(limits_by[by]),
	};
	if (layers->container != 0 &&
	    texts_add(&out->layers, isolation_title(layers->container)) < 0)
		return -1;
	for (int l = 0; l < LAYER_COUNT; l++) {
		uint64_t bit = 1ull << l;
		int r = (layers->in_force & bit) != 0
		            ? texts_add(&out->layers, layer_name((enum layer)l))
		        : (layers->wanted & bit) != 0
		            ? add_missing(layers, (enum layer)l, &out->missing)
		            : 0;

		if (r < 0)
			return -1;
	}
	return out->backend == NULL || out->limits_by == NULL ? -1 : 0;
}

/* ---- the setting require_layers ---- */

static const char *const ids[LAYER_COUNT] = {
/* clang-format off */
#define LAYER(id, ...) [LAYER_##id] = #id,
#include "executor/builder/layers.def"
	/* clang-format on */
};

/* The bit of a layer, or those of all; 0: not known. */
static uint64_t
bits_of(const char *word)
{
	if (strcmp(word, "all") == 0)
		return ~0ull;
	for (int l = 0; l < LAYER_COUNT; l++)
		if (strcmp(ids[l], word) == 0)
			return 1ull << l;
	return 0;
}

/* A later word changes what an earlier one set. */
static int
read_words(const char *text, uint64_t *required, struct err *e)
{
	auto_free char *copy = strdup(text);
	char *rest = copy, *word;

	if (copy == NULL)
		return err_sys(e, "require_layers");
	while ((word = strsep(&rest, ", ")) != NULL) {
		bool except = *word == '-';
		uint64_t bits = bits_of(word + except);

		if (*word == '\0')
			continue;
		if (bits == 0)
			return err_set(e, ERR_invalid_argument,
			    "require_layers: \"%.32s\" is not a layer; landlock_scopes is one, for "
			    "example",
			    word + except);
		*required = except ? *required & ~bits : *required | bits;
	}
	return 0;
}

int
isolation_require(const struct isolation *in, const char *layers, struct err *e)
{
	uint64_t required = 0;

	if (read_words(layers, &required, e) < 0)
		return -1;
	for (int l = 0; l < LAYER_COUNT; l++) {
		const char *name = layer_name((enum layer)l);
		size_t size = strlen(name);

		for (size_t i = 0; (required >> l & 1) != 0 && i < in->missing.count; i++)
			if (strncmp(in->missing.items[i], name, size) == 0 &&
			    in->missing.items[i][size] == ':')
				return err_set(e, ERR_isolation_unavailable,
				    "require_layers: this host cannot provide %s",
				    in->missing.items[i]);
	}
	return 0;
}
