/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fix.c - tries one kind of repair after the other until the code parses, then adds missing
 * imports.
 *
 * Trusts no draft: only code that parses is returned.  Line numbers in an edit refer to the text
 * before that edit.
 */
#include "validator/python/fix.h"

#include "validator/python/draft.h"
#include "validator/python/interp.h"

#include "common/base/auto.h"

#include <string.h>

enum {
	MAX_MENDED = 32 << 10, /* bytes whose lines are mended one by one, each with a parse */
	MAX_LINES = 50,
	MAX_FIXED =
	    256 << 10, /* bytes: each attempt is a parse, and a parse cannot be interrupted */
};

static const struct missing {
	const char *name, *attr, *statement, *module;
} well_known[] = {
#define MISSING(name, attribute, statement, module) { #name, #attribute, statement, module },
#include "validator/fixes.def"
};

/* ---- code that does not parse ---- */

static bool
tabs_of_4(const struct source *source, struct draft *to, struct report *report)
{
	return draft_tabs(source, 4, to, report);
}

static bool
tabs_of_8(const struct source *source, struct draft *to, struct report *report)
{
	return draft_tabs(source, 8, to, report);
}

/* In this order.  The result of an attempt that did not suffice is kept, except for `alone`. */
static const struct attempt {
	bool (*mend)(const struct source *, struct draft *, struct report *);
	bool alone;
} attempts[] = {
	{ draft_unfence, false },
	{ draft_prompts, false },
	{ draft_magics, false },
	{ draft_prose, false },
	{ draft_characters, false },
	{ draft_dedent, false },
	{ tabs_of_4, true },
	{ tabs_of_8, true },
	{ draft_words, false },
};

/* What the parser's message asks for, line by line. */
static const struct remedy {
	const char *part; /* of the message */
	bool (*mend)(const struct source *, size_t line, struct draft *, struct report *);
} remedies[] = {
	{ "expected ':'", draft_colon },
	{ "Missing parentheses in call to 'print'", draft_print },
	{ "was never closed", draft_bracket },
	{ "forgot a comma", draft_bracket },
	{ "invalid syntax", draft_bracket },
};

static int
parses(const struct source *source, bool *good, struct err *e)
{
	struct fault fault;
	PyObject *tree;

	if (interp_parse(source, &tree, &fault, e) != 0)
		return -1;
	*good = tree != NULL;
	Py_XDECREF(tree);
	return 0;
}

/* Takes the draft; the caller closes *mended, also after an error. */
static int
read_draft(struct draft *draft, struct source *mended, bool *good, struct err *e)
{
	bool failed = draft->failed;
	int status = failed ? err_set(e, ERR_limit_exceeded, "code: no memory left to repair it")
	                    : source_open(mended, draft->text, draft->size, e);

	draft_clear(draft);
	return status == 0 ? parses(mended, good, e) : -1;
}

/* Replaces *source by its repaired form if that parses or is a useful next step. */
static int
try_attempt(const struct attempt *attempt, struct source *source, bool *good, struct report *report,
    struct err *e)
{
	struct draft draft = { 0 };
	struct source mended = { 0 };
	size_t edits = report->out->edits.count;
	int status = 0;

	if (attempt->mend(source, &draft, report) && draft.text != NULL)
		status = read_draft(&draft, &mended, good, e);
	draft_clear(&draft);
	if (status == 0 && mended.text != NULL && (*good || !attempt->alone)) {
		source_close(source);
		*source = mended;
		return 0;
	}
	source_close(&mended);
	report_forget_edits(report, edits);
	return status;
}

/* Mends the line of the next fault; *more: it changed something. */
static int
mend_line(struct source *source, bool *good, bool *more, struct report *report, struct err *e)
{
	struct draft draft = { 0 };
	struct source mended = { 0 };
	struct fault fault = { 0 };
	PyObject *tree;

	*more = false;
	if (interp_parse(source, &tree, &fault, e) != 0)
		return -1;
	Py_XDECREF(tree);
	for (size_t n = 0; n < COUNT(remedies) && !*more; n++)
		*more = strstr(fault.text, remedies[n].part) != NULL &&
		        remedies[n].mend(source, fault.line, &draft, report);
	int status = *more ? read_draft(&draft, &mended, good, e) : 0;
	draft_clear(&draft);
	if (*more && status == 0) {
		source_close(source);
		*source = mended;
		return 0;
	}
	source_close(&mended);
	return status;
}

static int
mend_lines(struct source *source, bool *good, struct report *report, struct err *e)
{
	bool more = true;
	int status = 0;

	for (int n = 0; n < MAX_LINES && status == 0 && more && !*good; n++)
		status = mend_line(source, good, &more, report, e);
	return status;
}

/* ---- imports ---- */

/* The row for a name at its first use; NULL if there is none. */
static const struct missing *
known_missing(const struct program *program, PyObject *name, PyObject *index)
{
	const struct node *node = &program->tree.nodes[PyLong_AsSize_t(index)];
	const struct node *parent = &program->tree.nodes[node->parent];
	const char *text = tree_string(name);
	const char *attr =
	    parent->kind == NODE_Attribute ? tree_text(parent->ast, ATTR_attr) : NULL;

	if (text == NULL || !names_missing(&program->names, name))
		return NULL;
	for (const struct missing *row = well_known; row < well_known + COUNT(well_known); row++)
		if (strcmp(row->name, text) == 0 &&
		    (strcmp(row->attr, "*") == 0 || (attr != NULL && strcmp(row->attr, attr) == 0)))
			return row;
	return NULL;
}

static bool
is_unbound(const struct program *program, const char *text)
{
	PyObject *name = PyUnicode_InternFromString(text);
	bool unbound = name != NULL && PyDict_GetItemWithError(program->names.used, name) != NULL &&
	               names_missing(&program->names, name);

	PyErr_Clear();
	Py_XDECREF(name);
	return unbound;
}

/* The literals of another language that the program uses. */
static unsigned
foreign_literals(const struct program *program)
{
	unsigned which = 0;
	const char *to;

	for (size_t i = 0; i < DRAFT_LITERALS; i++)
		which |= (unsigned)is_unbound(program, draft_literal(i, &to)) << i;
	return which;
}

static void
advise_literals(const struct program *program, struct report *report)
{
	unsigned which = foreign_literals(program);

	for (size_t i = 0; i < DRAFT_LITERALS; i++) {
		const char *to, *from = draft_literal(i, &to);

		if ((which & 1U << i) != 0)
			report_advice(report, "%s is %s in Python; auto_fix writes that", from, to);
	}
}

static bool
is_literal(const char *text)
{
	const char *to;
	size_t i = 0;

	while (i < DRAFT_LITERALS && strcmp(draft_literal(i, &to), text) != 0)
		i++;
	return i < DRAFT_LITERALS;
}

void
fix_advise(const struct program *program, struct report *report)
{
	PyObject *name, *index;
	Py_ssize_t at = 0;

	advise_literals(program, report);
	while (PyDict_Next(program->names.used, &at, &name, &index)) {
		const struct missing *row = known_missing(program, name, index);
		if (row == NULL && names_missing(&program->names, name) &&
		    !is_literal(tree_string(name)))
			report_advice(report,
			    "'%s' is bound nowhere in this code, nor is it a built-in",
			    tree_string(name));
		if (row == NULL)
			continue;
		if (policy_module(program->policy, row->module))
			report_advice(report, "%s is used but not imported; auto_fix adds '%s'",
			    row->name, row->statement);
		else
			report_advice(report,
			    "%s is used but not imported, and %s does not allow it", row->name,
			    program->policy->set.title);
	}
}

static bool
is_docstring(PyObject *statement)
{
	PyObject *value =
	    tree_kind(statement) == NODE_Expr ? tree_get(statement, ATTR_value) : NULL;

	return value != NULL && tree_kind(value) == NODE_Constant &&
	       tree_text(value, ATTR_value) != NULL;
}

static bool
is_future(PyObject *statement)
{
	const char *module =
	    tree_kind(statement) == NODE_ImportFrom ? tree_text(statement, ATTR_module) : NULL;

	return module != NULL && strcmp(module, "__future__") == 0;
}

/* The line before which an import can be added: after comments, docstring and __future__ imports.
 * 0: no such line, because another statement shares a line with them. */
static size_t
import_line(const struct program *program)
{
	PyObject *root = program->tree.root, *body = tree_get(root, ATTR_body);
	size_t line = 1, size;

	while (*source_line(program->source, line, &size) == '#')
		line++;
	for (size_t n = 0; n < tree_length(root, ATTR_body); n++) {
		PyObject *statement = PyList_GET_ITEM(body, (Py_ssize_t)n);
		if (!is_future(statement) && !(n == 0 && is_docstring(statement)))
			return tree_number(statement, ATTR_lineno) >= line ? line : 0;
		line = tree_number(statement, ATTR_end_lineno) + 1;
	}
	return line;
}

static void
add_imports(const struct program *program, size_t line, struct draft *to, struct report *report)
{
	PyObject *name, *index;
	Py_ssize_t at = 0;

	while (PyDict_Next(program->names.used, &at, &name, &index)) {
		const struct missing *row = known_missing(program, name, index);
		if (row == NULL || !policy_module(program->policy, row->module))
			continue;
		draft_add(to, row->statement, strlen(row->statement));
		draft_add(to, "\n", 1);
		report_edit(report, "missing-import", line, "added '%s'", row->statement);
	}
}

static void
draft_imports(const struct program *program, size_t line, struct draft *to, struct report *report)
{
	const struct source *source = program->source;
	size_t split = line <= source->lines ? source->starts[line - 1] : source->size;

	draft_add(to, source->text, split);
	if (split > 0 && strchr("\r\n", source->text[split - 1]) == NULL)
		draft_add(to, "\n", 1);
	add_imports(program, line, to, report);
	draft_add(to, source->text + split, source->size - split);
}

/* Takes the draft with the edits that come after the first `edits`, if it parses. */
static int
take_draft(
    struct draft *draft, size_t edits, struct source *fixed, struct report *report, struct err *e)
{
	struct source mended = { 0 };
	bool good = false;
	int status = 0;

	if (report->out->edits.count > edits)
		status = read_draft(draft, &mended, &good, e);
	draft_clear(draft);
	if (good) {
		*fixed = mended;
		return 0;
	}
	source_close(&mended);
	report_forget_edits(report, edits);
	return status;
}

static int
mend_literals(
    const struct program *program, struct source *fixed, struct report *report, struct err *e)
{
	size_t edits = report->out->edits.count;
	struct draft draft = { 0 };
	unsigned which = foreign_literals(program);

	if (which != 0)
		draft_literals(program->source, which, &draft, report);
	return take_draft(&draft, edits, fixed, report, e);
}

static int
mend_imports(
    const struct program *program, struct source *fixed, struct report *report, struct err *e)
{
	size_t line = import_line(program), edits = report->out->edits.count;
	struct draft draft = { 0 };

	if (line > 0)
		draft_imports(program, line, &draft, report);
	return take_draft(&draft, edits, fixed, report, e);
}

/* Mends names of *source, which parses. */
static int
complete(struct source *source, const struct policy *policy,
    int (*mend)(const struct program *, struct source *, struct report *, struct err *),
    struct report *report, struct err *e)
{
	struct program program = { .source = source, .policy = policy };
	struct source fixed = { 0 };
	struct fault fault;
	PyObject *root;

	if (interp_parse(source, &root, &fault, e) != 0)
		return -1;
	if (tree_open(&program.tree, root, e) != 0)
		return -1;
	int status = names_open(&program.names, &program.tree, e);
	if (status == 0) {
		status = mend(&program, &fixed, report, e);
		names_close(&program.names);
	}
	tree_close(&program.tree);
	if (fixed.text != NULL) {
		source_close(source);
		*source = fixed;
	}
	return status;
}

int
fix_code(const struct source *source, const struct policy *policy, struct source *fixed,
    struct report *report, struct err *e)
{
	bool good = false;

	*fixed = (struct source){ 0 };
	if (source->size > MAX_FIXED) {
		report_advice(report, "auto_fix only looks at code of at most %d bytes", MAX_FIXED);
		return 0;
	}
	if (source_open(fixed, source->text, source->size, e) != 0)
		return -1;
	int status = parses(fixed, &good, e);
	for (size_t n = 0; n < COUNT(attempts) && status == 0 && !good; n++)
		status = try_attempt(&attempts[n], fixed, &good, report, e);
	if (status == 0 && !good && source->size <= MAX_MENDED)
		status = mend_lines(fixed, &good, report, e);
	if (status == 0 && good)
		status = complete(fixed, policy, mend_literals, report, e);
	if (status == 0 && good)
		status = complete(fixed, policy, mend_imports, report, e);
	if (status == 0 && !good)
		report_advice(report, "auto_fix found nothing that makes the code parse");
	if (status != 0 || !good || report->out->edits.count == 0) {
		report_forget_edits(report, 0);
		source_close(fixed);
	}
	return status;
}
