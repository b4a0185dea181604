/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meta.c - metaschemas, made from keywords.def.
 *
 * The published metaschemas say again what the table of keywords says.  They are therefore made
 * from the table: they accept the same schemas, have the same URIs, and schemas can refer to them
 * and to their definitions.
 */
#include "validator/schema/meta.h"

#include "common/base/auto.h"
#include "common/base/must.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
	ALL = (1 << VOCABULARY_COUNT) - 1,
};

static const struct {
	enum draft draft;
	const char *uri, *self; /* how a schema within a schema is named */
} drafts[] = {
	{ DRAFT_2020, "https://json-schema.org/draft/2020-12/", "{\"$dynamicRef\":\"#meta\"}" },
	{ DRAFT_2019, "https://json-schema.org/draft/2019-09/", "{\"$recursiveRef\":\"#\"}" },
	{ DRAFT_7, "http://json-schema.org/draft-07/", "{\"$ref\":\"#\"}" },
	{ DRAFT_6, "http://json-schema.org/draft-06/", "{\"$ref\":\"#\"}" },
	{ DRAFT_4, "http://json-schema.org/draft-04/", "{\"$ref\":\"#\"}" },
};

/* The vocabularies as the two last drafts name them. */
static const struct {
	enum draft draft;
	const char *name;
	unsigned bits;
	int assert_format;
} vocabularies[] = {
	{ DRAFT_2020, "core", 1 << VOCABULARY_core, 0 },
	{ DRAFT_2020, "applicator", 1 << VOCABULARY_applicator, 0 },
	{ DRAFT_2020, "unevaluated", 1 << VOCABULARY_unevaluated, 0 },
	{ DRAFT_2020, "validation", 1 << VOCABULARY_validation, 0 },
	{ DRAFT_2020, "meta-data", 1 << VOCABULARY_metadata, 0 },
	{ DRAFT_2020, "format-annotation", 1 << VOCABULARY_format, 0 },
	{ DRAFT_2020, "format-assertion", 1 << VOCABULARY_format, 1 },
	{ DRAFT_2020, "content", 1 << VOCABULARY_content, 0 },
	{ DRAFT_2019, "core", 1 << VOCABULARY_core, 0 },
	{ DRAFT_2019, "applicator", 1 << VOCABULARY_applicator | 1 << VOCABULARY_unevaluated, 0 },
	{ DRAFT_2019, "validation", 1 << VOCABULARY_validation, 0 },
	{ DRAFT_2019, "meta-data", 1 << VOCABULARY_metadata, 0 },
	{ DRAFT_2019, "format", 1 << VOCABULARY_format, 0 },
	{ DRAFT_2019, "content", 1 << VOCABULARY_content, 0 },
};

/* What the value of a keyword must be; @ is a schema.  In draft 4 "required" is never empty. */
static const char *const forms[FORM_COUNT_OF] = {
	[FORM_ANYTHING] = "{}",
	[FORM_FLAG] = "{\"type\":\"boolean\"}",
	[FORM_STRING] = "{\"type\":\"string\"}",
	[FORM_URI] = "{\"type\":\"string\",\"format\":\"uri-reference\"}",
	[FORM_ANCHOR] = "{\"type\":\"string\",\"pattern\":\"^[A-Za-z_][-A-Za-z0-9._]*$\"}",
	[FORM_PATTERN] = "{\"type\":\"string\",\"format\":\"regex\"}",
	[FORM_NUMBER] = "{\"type\":\"number\"}",
	[FORM_POSITIVE] = "{\"type\":\"number\",\"not\":{\"maximum\":0}}",
	[FORM_COUNT] = "{\"type\":\"integer\",\"minimum\":0}",
	[FORM_LIST] = "{\"type\":\"array\"}",
	[FORM_STRINGS] =
	    "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true}",
	[FORM_SOME_STRINGS] = ("{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"string\"},"
			       "\"uniqueItems\":true}"),
	[FORM_TYPES] = ("{\"anyOf\":[{\"$ref\":\"#/definitions/simpleTypes\"},{\"type\":\"array\","
			"\"items\":{\"$ref\":\"#/definitions/simpleTypes\"},\"minItems\":1,"
			"\"uniqueItems\":true}]}"),
	[FORM_FLAG_MAP] = "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"boolean\"}}",
	[FORM_STRINGS_MAP] = ("{\"type\":\"object\",\"additionalProperties\":{\"type\":\"array\","
			      "\"items\":{\"type\":\"string\"},\"uniqueItems\":true}}"),
	[FORM_SCHEMA] = "@",
	[FORM_SCHEMA_OR_FLAG] = "{\"anyOf\":[{\"type\":\"boolean\"},@]}",
	[FORM_SCHEMAS] = "{\"type\":\"array\",\"minItems\":1,\"items\":@}",
	[FORM_ITEMS] = "{\"anyOf\":[@,{\"type\":\"array\",\"minItems\":1,\"items\":@}]}",
	[FORM_SCHEMA_MAP] = "{\"type\":\"object\",\"additionalProperties\":@}",
	[FORM_PATTERN_MAP] = "{\"type\":\"object\",\"additionalProperties\":@}",
	[FORM_DEPENDENCIES] = ("{\"type\":\"object\",\"additionalProperties\":{\"anyOf\":[@,{"
			       "\"type\":\"array\",\"items\":{\"type\":\"string\"},"
			       "\"uniqueItems\":true}]}}"),
};

/* Named parts that published schemas refer to. */
static const char definitions[] =
    "\"simpleTypes\":{\"enum\":[\"array\",\"boolean\",\"integer\",\"null\",\"number\",\"object\","
    "\"string\"]},"
    "\"nonNegativeInteger\":{\"type\":\"integer\",\"minimum\":0},"
    "\"nonNegativeIntegerDefault0\":{\"type\":\"integer\",\"minimum\":0},"
    "\"positiveInteger\":{\"type\":\"integer\",\"minimum\":0},"
    "\"positiveIntegerDefault0\":{\"type\":\"integer\",\"minimum\":0},"
    "\"stringArray\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true}";

static void
write_form(FILE *to, enum form form, const char *self)
{
	for (const char *c = forms[form]; *c != '\0'; c++)
		if (*c == '@')
			fputs(self, to);
		else
			fputc(*c, to);
}

static void
write_properties(FILE *to, size_t d, unsigned bits)
{
	const char *comma = "";

	for (const struct keyword_row *row = keyword_rows; row < keyword_rows + KEYWORD_COUNT;
	     row++) {
		if ((bits >> row->vocabulary & 1) == 0 || drafts[d].draft < row->first ||
		    drafts[d].draft > row->last)
			continue;
		fprintf(to, "%s\"%s\":", comma, row->name);
		write_form(to, row->form, drafts[d].self);
		comma = ",";
	}
}

/* name: "schema", or "meta/..." for the keywords of one vocabulary. */
static void
write_document(FILE *to, size_t d, const char *name, unsigned bits)
{
	const char *end = drafts[d].draft <= DRAFT_7 ? "#" : "";

	fprintf(to, "{\"$schema\":\"%sschema%s\",\"%s\":\"%s%s%s\",", drafts[d].uri, end,
	    drafts[d].draft == DRAFT_4 ? "id" : "$id", drafts[d].uri, name, end);
	if (drafts[d].draft == DRAFT_2020)
		fputs("\"$dynamicAnchor\":\"meta\",", to);
	if (drafts[d].draft == DRAFT_2019)
		fputs("\"$recursiveAnchor\":true,", to);
	fprintf(to, "\"type\":%s,\"definitions\":{%s,\"schemaArray\":",
	    drafts[d].draft == DRAFT_4 ? "\"object\"" : "[\"object\",\"boolean\"]", definitions);
	write_form(to, FORM_SCHEMAS, drafts[d].self);
	fputs("},\"properties\":{", to);
	write_properties(to, d, bits);
	fputs("}}", to);
}

static json_t *
make(size_t d, const char *name, unsigned bits)
{
	auto_free char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	must(to != NULL);
	write_document(to, d, name, bits);
	must(fclose(to) == 0);
	json_t *document = json_loadb(text, size, 0, NULL);
	must(document != NULL);
	return document;
}

/* The rest of the URI after that of a draft; NULL: it is none. */
static const char *
after_draft(const char *uri, size_t *d)
{
	for (*d = 0; *d < COUNT(drafts); ++*d) {
		size_t size = strlen(drafts[*d].uri);
		/* Schemas write either scheme. */
		const char *rest = strstr(uri, "://"), *own = strstr(drafts[*d].uri, "://");

		size -= (size_t)(own - drafts[*d].uri);
		if (rest != NULL && strncmp(uri, "http", 4) == 0 && strncmp(rest, own, size) == 0)
			return rest + size;
	}
	return NULL;
}

enum draft
meta_draft(const char *uri)
{
	size_t d;
	const char *rest = after_draft(uri, &d);

	return rest != NULL && strcmp(rest, "schema") == 0 ? drafts[d].draft : DRAFT_unknown;
}

const char *
meta_uri(enum draft draft)
{
	switch (draft) {
	case DRAFT_2019:
		return "https://json-schema.org/draft/2019-09/schema";
	case DRAFT_7:
		return "http://json-schema.org/draft-07/schema";
	case DRAFT_6:
		return "http://json-schema.org/draft-06/schema";
	case DRAFT_4:
		return "http://json-schema.org/draft-04/schema";
	default:
		return "https://json-schema.org/draft/2020-12/schema";
	}
}

json_t *
meta_document(const char *uri)
{
	size_t d;
	const char *rest = after_draft(uri, &d);

	if (rest == NULL)
		return NULL;
	if (strcmp(rest, "schema") == 0)
		return make(d, rest, ALL);
	for (size_t i = 0; i < COUNT(vocabularies) && strncmp(rest, "meta/", 5) == 0; i++)
		if (vocabularies[i].draft == drafts[d].draft &&
		    strcmp(vocabularies[i].name, rest + 5) == 0)
			return make(d, rest, vocabularies[i].bits);
	return NULL;
}

unsigned
meta_vocabulary(const char *uri, int *assert_format)
{
	size_t d;
	const char *rest = after_draft(uri, &d);

	for (size_t i = 0; rest != NULL && i < COUNT(vocabularies); i++)
		if (vocabularies[i].draft == drafts[d].draft && strncmp(rest, "vocab/", 6) == 0 &&
		    strcmp(vocabularies[i].name, rest + 6) == 0) {
			*assert_format |= vocabularies[i].assert_format;
			return vocabularies[i].bits;
		}
	return 0;
}
