/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interp.c - CPython as a parser.
 *
 * Trusts CPython to turn any text into a tree or an exception.  If it does not, the jail remains:
 * no file, no network, no exec.  A parse cannot be interrupted, so the size of the code is limited
 * before.
 */
#include "validator/python/interp.h"

#include "validator/python/memory.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <stdio.h>
#include <string.h>

/*
 * On an error CPython opens a file with the name of the source, to show the line.  This file cannot
 * exist, and the jail answers the attempt with ENOENT.
 */
#define SOURCE_NAME "/proc/0/<code>"

static PyObject *builtins;

/* One text for each feature that makes Python load a module, parsed once while it still can. */
static const char *const warm_up[] = {
	"import a\nx = [b for b in a.c() if 1]\n",
	"# coding: latin-1\n\xc3\xa4 = '\\N{BULLET}\\d' f'{x!r:>{y}}'\n",
	"def f(:\n",
	"if 1:\n\tx\n        y\n",
	"x = (\n",
	"return 1\n",
	"'\\N{no such name}'\n",
};

static int
start_python(uint64_t memory_bytes)
{
	PyPreConfig before;
	PyConfig config;

	PyPreConfig_InitIsolatedConfig(&before);
	before.utf8_mode = 1;
#ifdef SANITIZED
	before.allocator = PYMEM_ALLOCATOR_MALLOC; /* pools would hide a use after free */
#endif
	if (PyStatus_Exception(Py_PreInitialize(&before)))
		return -1;
	memory_bound(memory_bytes);
	PyConfig_InitIsolatedConfig(&config);
	config.site_import = 0;
	config.install_signal_handlers = 0;
	config.write_bytecode = 0;
	config.pathconfig_warnings = 0;
	/* Not the first python3 in PATH. */
	PyStatus status = PyConfig_SetBytesString(&config, &config.program_name, PYTHON_PROGRAM);
	if (!PyStatus_Exception(status))
		status = PyWideStringList_Append(&config.warnoptions, L"ignore");
	if (!PyStatus_Exception(status))
		status = Py_InitializeFromConfig(&config);
	PyConfig_Clear(&config);
	return PyStatus_Exception(status) ? -1 : 0;
}

static PyObject *
run_parser(const char *text, int flags)
{
	PyCompilerFlags how = {
		/* Ignores a coding line: the source is UTF-8, here and in a guest. */
		.cf_flags = PyCF_IGNORE_COOKIE | flags,
		.cf_feature_version = PY_MINOR_VERSION,
	};

	return Py_CompileStringExFlags(text, SOURCE_NAME, Py_file_input, &how, -1);
}

static void
warm(void)
{
	for (size_t n = 0; n < COUNT(warm_up); n++) {
		Py_XDECREF(run_parser(warm_up[n], PyCF_ONLY_AST));
		PyErr_Clear();
		Py_XDECREF(run_parser(warm_up[n], 0));
		PyErr_Clear();
	}
}

int
interp_open(uint64_t memory_bytes, struct err *e)
{
	if (start_python(memory_bytes) != 0)
		return err_set(
		    e, ERR_internal, "start the Python interpreter of %s", PYTHON_PROGRAM);
	builtins = PyImport_ImportModule("builtins");
	if (builtins == NULL)
		return err_set(e, ERR_internal, "import Python's builtins");
	warm();
	return 0;
}

bool
interp_builtin(PyObject *name)
{
	return PyObject_HasAttr(builtins, name) == 1;
}

static uint64_t
number_of(PyObject *exception, const char *attr)
{
	PyObject *value = PyObject_GetAttrString(exception, attr);
	long number = value != NULL && PyLong_Check(value) ? PyLong_AsLong(value) : 0;

	Py_XDECREF(value);
	PyErr_Clear();
	return number > 0 ? (uint64_t)number : 0;
}

static void
read_fault(PyObject *exception, struct fault *fault)
{
	PyObject *text = PyObject_GetAttrString(exception, "msg");
	const char *message = text != NULL && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : NULL;

	*fault = (struct fault){
		.line = number_of(exception, "lineno"),
		.column = number_of(exception, "offset"),
	};
	if (fault->line == 0)
		fault->line = 1;
	if (fault->column == 0)
		fault->column = 1;
	snprintf(
	    fault->text, sizeof fault->text, "%s", message != NULL ? message : "invalid syntax");
	utf8_tame(fault->text);
	Py_XDECREF(text);
	PyErr_Clear();
}

/* Returns 0 with *fault if Python finds the code wrong, -1 if Python gave up. */
static int
explain(struct fault *fault, struct err *e)
{
	PyObject *type, *value, *trace;
	int status = -1;

	PyErr_Fetch(&type, &value, &trace);
	PyErr_NormalizeException(&type, &value, &trace);
	if (PyErr_GivenExceptionMatches(type, PyExc_SyntaxError)) {
		read_fault(value, fault);
		status = 0;
	} else if (PyErr_GivenExceptionMatches(type, PyExc_MemoryError) ||
		   PyErr_GivenExceptionMatches(type, PyExc_RecursionError)) {
		err_set(e, ERR_limit_exceeded,
		    "code: nested too deeply or too large to parse; nest less, or split it up");
	} else {
		err_set(e, ERR_internal, "parse the code: %s", ((PyTypeObject *)type)->tp_name);
	}
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(trace);
	return status;
}

int
interp_parse(const struct source *source, PyObject **tree, struct fault *fault, struct err *e)
{
	*fault = (struct fault){ 0 };
	*tree = run_parser(source->text, PyCF_ONLY_AST);
	return *tree != NULL ? 0 : explain(fault, e);
}

/* The top level of a guest's program may use await, like the body of an async function. */
int
interp_compile(const struct source *source, struct fault *fault, struct err *e)
{
	PyObject *code = run_parser(source->text, PyCF_ALLOW_TOP_LEVEL_AWAIT);

	*fault = (struct fault){ 0 };
	if (code == NULL)
		return explain(fault, e);
	Py_DECREF(code);
	return 0;
}
