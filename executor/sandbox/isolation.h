/* SPDX-License-Identifier: Apache-2.0 */
/* isolation.h - the layers around programs: which ones the operator demands, and their names. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <stdbool.h>
#include <stdint.h>

struct layers;

/* Before builder_open(): reads the setting require_layers, and adds it to the builder's arguments.
 * The builder compares it with the layers of each container before its first program starts. */
int isolation_demand(const char *layers, struct texts *arguments, struct err *);
/* Fails if a container of this runtime lacks such a layer on every host. */
int isolation_allow(uint32_t container, struct err *);
/* Sets the text for a container runtime (builder/containers.h) in isolation; the default is its
 * name. */
void isolation_entitle(uint32_t container, const char *title);
const char *isolation_title(uint32_t container);
/* The layers in the form that clients see; free with message_clear().  -1: no memory. */
int isolation_of(const struct layers *, struct isolation *);
/* Did isolation_demand() name any layer? */
bool isolation_demanded(void);
/* Fails, with the reason, if a layer that isolation_demand() named is not in force. */
int isolation_require(const struct isolation *, struct err *);
