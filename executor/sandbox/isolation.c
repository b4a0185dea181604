/* SPDX-License-Identifier: Apache-2.0 */
/* isolation.c - names of the layers of a box; trusts the builder's report of those in force. */
#include "executor/sandbox/isolation.h"

#include "common/base/auto.h"
#include "executor/builder/containers.h"
#include "executor/builder/order.h"

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
static const char *const containers[CONTAINER_COUNT] = {
	[CONTAINER_none] = "none",
#define CONTAINER(name, ...) [CONTAINER_##name] = #name,
#include "executor/builder/containers.def"
};

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

/* Layers that a box has only if a setting asks for them. */
static const char *const unset[LAYER_COUNT] = {
	[LAYER_own_loopback] = "loopback=false on this server",
	[LAYER_cpu_limit] = "no limit of processors is set",
};

static const char *
reason(const struct layers *layers, enum layer layer)
{
	if ((layers->wanted & 1ull << layer) == 0 && unset[layer] != NULL)
		return unset[layer];
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

	if (layer_possible(layer, layers->container))
		snprintf(text, sizeof text, "%s: %s", layer_name(layer), reason(layers, layer));
	else
		snprintf(text, sizeof text, "%s: a container of %s has none", layer_name(layer),
		    containers[layers->container]);
	return texts_add(missing, text);
}

/* Each layer is in one of the two lists, whatever the backend. */
static int
list_layers(const struct layers *layers, struct isolation *out)
{
	for (int l = 0; l < LAYER_COUNT; l++) {
		int r = (layers->in_force & 1ull << l) != 0
		            ? texts_add(&out->layers, layer_name((enum layer)l))
		            : add_missing(layers, (enum layer)l, &out->missing);

		if (r < 0)
			return -1;
	}
	return 0;
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
	/* A program that never started had no layers, and lacked none. */
	if (layers->wanted != 0 && list_layers(layers, out) < 0)
		return -1;
	return out->backend == NULL || out->limits_by == NULL ? -1 : 0;
}

/* ---- the setting require_layers ---- */

static const char *const ids[LAYER_COUNT] = {
/* clang-format off */
#define LAYER(id, ...) [LAYER_##id] = #id,
#include "executor/builder/layers.def"
	/* clang-format on */
};

static uint64_t required; /* bits by enum layer */

/* The bit of a layer, or those of all; 0: not known. */
static uint64_t
bits_of(const char *word)
{
	if (strcmp(word, "all") == 0)
		return (1ull << LAYER_COUNT) - 1;
	for (int l = 0; l < LAYER_COUNT; l++)
		if (strcmp(ids[l], word) == 0)
			return 1ull << l;
	return 0;
}

/* A later word changes what an earlier one set. */
static int
read_words(const char *text, struct err *e)
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
		required = except ? required & ~bits : required | bits;
	}
	return 0;
}

int
isolation_demand(const char *layers, struct texts *arguments, struct err *e)
{
	char bits[24];

	required = 0;
	if (read_words(layers, e) < 0)
		return -1;
	snprintf(bits, sizeof bits, "%llx", (unsigned long long)required);
	return texts_add(arguments, "require") < 0 || texts_add(arguments, bits) < 0 ||
	               texts_add(arguments, "--") < 0
	           ? err_sys(e, "arguments of the builder")
	           : 0;
}

bool
isolation_demanded(void)
{
	return required != 0;
}

int
isolation_allow(uint32_t container, struct err *e)
{
	for (int l = 0; l < LAYER_COUNT; l++)
		if ((required >> l & 1) != 0 && !layer_possible((enum layer)l, container))
			return err_set(e, ERR_isolation_unavailable,
			    "a container of %s has no %s, which this server requires "
			    "(require_layers)",
			    containers[container], layer_name((enum layer)l));
	return 0;
}

static bool
has(const struct texts *layers, const char *name)
{
	for (size_t i = 0; i < layers->count; i++)
		if (strcmp(layers->items[i], name) == 0)
			return true;
	return false;
}

/* The entry of missing, with its reason. */
static const char *
explain(const struct texts *missing, const char *name)
{
	size_t size = strlen(name);

	for (size_t i = 0; i < missing->count; i++)
		if (strncmp(missing->items[i], name, size) == 0 && missing->items[i][size] == ':')
			return missing->items[i];
	return name;
}

int
isolation_require(const struct isolation *in, struct err *e)
{
	for (int l = 0; l < LAYER_COUNT; l++) {
		const char *name = layer_name((enum layer)l);

		if ((required >> l & 1) != 0 && !has(&in->layers, name))
			return err_set(e, ERR_isolation_unavailable,
			    "require_layers: this host cannot provide %s",
			    explain(&in->missing, name));
	}
	return 0;
}
