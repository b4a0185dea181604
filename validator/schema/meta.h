/* SPDX-License-Identifier: Apache-2.0 */
/* meta.h - the dialects of JSON Schema: the URIs of drafts and vocabularies, and their metaschemas.
 */
#pragma once

#include "validator/schema/keyword.h"

#include <jansson.h>

/* The draft of a metaschema's URI without its fragment, or DRAFT_unknown. */
enum draft meta_draft(const char *uri);
/* The URI of that draft's metaschema. */
const char *meta_uri(enum draft);
/* A new document if the URI, without a fragment, is that of a metaschema; otherwise NULL. */
json_t *meta_document(const char *uri);
/* The bits that a vocabulary's URI adds, and whether it asks to assert formats; 0: unknown. */
unsigned meta_vocabulary(const char *uri, int *assert_format);
