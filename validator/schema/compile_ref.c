/* SPDX-License-Identifier: Apache-2.0 */
/* compile_ref.c - keywords that refer to another schema.  Trusts nothing, as compile.c. */
#include "validator/schema/compile.h"

#include <string.h>

static const struct node *
refer(const struct keyword_use *use, struct location *found, struct err *e)
{
	if (!json_is_string(use->value)) {
		compile_misformed(use, e);
		return NULL;
	}
	if (library_find(&use->build->plan->library,
		(struct resource *)(uintptr_t)use->node->resource, json_string_value(use->value),
		found, e) < 0)
		return NULL;
	return plan_node(use->build, found, e);
}

int
compile_ref(const struct keyword_use *use, struct err *e)
{
	struct location found;
	struct logic_rule *rule = OWN(use, logic);

	rule->ref = refer(use, &found, e);
	return rule->ref != NULL ? 0 : -1;
}

/* Like $ref, but if it names a dynamic anchor, the outermost one of that name counts. */
int
compile_dynamic_ref(const struct keyword_use *use, struct err *e)
{
	struct logic_rule *rule = OWN(use, logic);
	struct location found;
	const char *hash, *text = json_string_value(use->value);
	const struct location *anchor;

	rule->dynamic = refer(use, &found, e);
	if (rule->dynamic == NULL)
		return -1;
	hash = strchr(text, '#');
	if (hash == NULL || hash[1] == '/' || hash[1] == '\0')
		return 0;
	anchor = map_get(&found.resource->dynamic_anchors, hash + 1, strlen(hash + 1));
	if (anchor == NULL || anchor->schema != found.schema)
		return 0;
	rule->dynamic_name = hash + 1;
	use->build->plan->dynamic = true;
	return 0;
}

int
compile_recursive_ref(const struct keyword_use *use, struct err *e)
{
	struct logic_rule *rule = OWN(use, logic);
	struct location found;

	rule->dynamic = refer(use, &found, e);
	if (rule->dynamic == NULL)
		return -1;
	if (found.resource->recursive && found.resource->root == found.schema) {
		rule->dynamic_name = "";
		use->build->plan->dynamic = true;
	}
	return 0;
}
