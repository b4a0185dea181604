/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - an image in a directory (OCI image-spec v1.1, image-layout.md), as `skopeo copy` and
 * `docker save` make it.
 *
 * Each blob is checked against the digest that names it before a byte of it is used.
 */
#pragma once

#include "common/base/err.h"

#include <jansson.h>

enum { LAYOUT_LAYERS = 128 };

struct layout {
	int directory;  /* owned by the caller */
	json_t *config; /* of the image; layout_clear() releases it */
	json_t *manifest;
};

/* Finds the image of this machine's architecture.  tag: NULL: the only one. */
int layout_open(struct layout *, const char *tag, struct err *);
size_t layout_layers(const struct layout *);
/* Opens a layer, lowest first.  The caller owns the descriptor. */
int layout_layer(const struct layout *, size_t number, struct err *);
void layout_clear(struct layout *);
