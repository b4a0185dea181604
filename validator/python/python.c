/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python.c - a check of Python: parse, measure, rules, compiler errors, auto_fix.
 *
 * The code that is checked is the code that runs: the parser belongs to the interpreter, and the
 * source is read as UTF-8 whatever its coding line says, here and in a guest.
 */
#include "validator/python/python.h"

#include "validator/python/danger.h"
#include "validator/python/fix.h"
#include "validator/python/interp.h"
#include "validator/python/measure.h"

#include "common/base/auto.h"

#include <string.h>

enum {
	/*
	 * Maximum bytes that are also compiled.  CPython 3.11 takes quadratic time for many similar
	 * functions (275 s for 1 MiB of `lambda:a`), and a compilation cannot be interrupted.
	 */
	MAX_COMPILED = 32 << 10,
};

static const struct {
	const char *part, *hint;
} syntax_hints[] = {
#define SYNTAX(part, hint) { part, hint },
#include "validator/rules.def"
};

int
python_open(uint64_t memory_bytes, struct err *e)
{
	return interp_open(memory_bytes, e) != 0 ? -1 : tree_prepare(e);
}

static const char *
syntax_hint(const struct source *source, const struct fault *fault)
{
	if (strstr(source->text, "```") != NULL)
		return "Send the code without the Markdown fence around it; auto_fix removes it.";
	for (size_t n = 0; n < COUNT(syntax_hints); n++)
		if (strstr(fault->text, syntax_hints[n].part) != NULL)
			return syntax_hints[n].hint;
	return NULL;
}

static void
report_fault(const struct source *source, const struct fault *fault, struct report *report)
{
	report_finding(report, RULE_syntax_error, fault->line, fault->column,
	    syntax_hint(source, fault), "Syntax error: %s", fault->text);
}

static void
advise(const struct program *program, struct report *report)
{
	const struct texts *only = program->policy->only;
	PyObject *input = PyUnicode_FromString("input");

	for (size_t n = 0; only != NULL && n < only->count; n++)
		if (!policy_profile_module(program->policy, only->items[n]) &&
		    !policy_leads(program->policy, only->items[n]))
			report_advice(report,
			    "allowed_imports names '%s', which profile %s does not allow",
			    only->items[n], program->policy->set.title);
	if (input != NULL && PyDict_Contains(program->names.used, input) == 1)
		report_advice(
		    report, "input() finds no input here; put values into the code or into a file");
	Py_XDECREF(input);
	PyErr_Clear();
	fix_advise(program, report);
}

static int
check_program(struct program *program, struct report *report, struct err *e)
{
	struct fault fault = { 0 };

	if (names_open(&program->names, &program->tree, e) != 0)
		return -1;
	int status = measure_program(program, report->out->analysis, e);
	if (status == 0) {
		rules_check(program, report);
		advise(program, report);
		status = danger_advise(program, report, e);
	}
	names_close(&program->names);
	if (status == 0 && program->source->size <= MAX_COMPILED)
		status = interp_compile(program->source, &fault, e);
	if (status == 0 && fault.line > 0)
		report_fault(program->source, &fault, report);
	return status;
}

static int
check_text(
    const struct source *source, const struct policy *policy, struct report *report, struct err *e)
{
	struct program program = { .source = source, .policy = policy };
	struct fault fault;
	PyObject *root;

	if (measure_text(source, report->out->analysis, e) != 0 ||
	    interp_parse(source, &root, &fault, e) != 0)
		return -1;
	if (root == NULL) {
		report_fault(source, &fault, report);
		return 0;
	}
	if (tree_open(&program.tree, root, e) != 0)
		return -1;
	int status = check_program(&program, report, e);
	tree_close(&program.tree);
	return status;
}

/* Does the repaired code pass? Its findings are counted, not reported. */
static int
judge_fixed(
    const struct source *fixed, const struct policy *policy, struct report *report, struct err *e)
{
	struct validation_report scratch = { 0 };
	struct report second;

	int status = report_begin(&second, &scratch, e);
	if (status == 0)
		status = check_text(fixed, policy, &second, e);
	if (status == 0 && second.total == 0)
		report_advice(
		    report, "fixed_code passes the checks of profile %s", policy->set.title);
	else if (status == 0)
		report_advice(report, "fixed_code still has %zu findings under profile %s",
		    (size_t)second.total, policy->set.title);
	message_clear(MSG_validation_report, &scratch);
	return status;
}

static int
mend(const struct source *source, const struct policy *policy, struct report *report, struct err *e)
{
	struct source fixed;

	if (fix_code(source, policy, &fixed, report, e) != 0)
		return -1;
	if (fixed.text == NULL)
		return 0;
	int status = judge_fixed(&fixed, policy, report, e);
	if (status == 0)
		report->out->fixed_code = (struct blob){ take_ptr(fixed.text), fixed.size };
	source_close(&fixed);
	return status;
}

int
python_check(const struct source *source, const struct policy *policy, bool auto_fix,
    struct report *report, struct err *e)
{
	if (check_text(source, policy, report, e) != 0)
		return -1;
	return auto_fix ? mend(source, policy, report, e) : 0;
}
