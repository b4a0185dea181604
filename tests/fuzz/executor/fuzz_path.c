/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_path.c - names of files: as a hostile program makes them, and as a client asks for them.
 *
 * Any bytes encode to text that decodes to them again; whatever path_check takes stays inside.
 */
#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "executor/files/path.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_stays_inside(const char *path)
{
	for (const char *part = path; part != NULL; part = strchr(part, '/')) {
		part += *part == '/';

		size_t n = strcspn(part, "/");

		must(n > 0 && n <= FILES_MAX_NAME);
		must(!(n == 1 && part[0] == '.') && !(n == 2 && part[0] == '.' && part[1] == '.'));
	}
	must(path[0] != '/' && strlen(path) < FILES_MAX_PATH);
}

static void
check_client(const char *text)
{
	struct err e = { 0 };
	auto_free char *encoded = path_check("filename", text, &e);

	if (encoded == NULL) {
		must(e.code == ERR_path_not_allowed && strncmp(e.text, "filename", 8) == 0);
		return;
	}
	must(utf8_valid(encoded, strlen(encoded)));

	auto_free char *real = path_decode("filename", encoded, &e);

	must(real != NULL);
	check_stays_inside(real);
}

static void
check_guest(const uint8_t *bytes, size_t size)
{
	struct err e;
	auto_free char *encoded = path_encode(bytes, size);

	must(encoded != NULL && utf8_valid(encoded, strlen(encoded)));
	if (size == 0)
		return;

	auto_free char *real = path_decode_target("target", encoded, &e);

	if (size < FILES_MAX_PATH)
		must(real != NULL && strlen(real) == size && memcmp(real, bytes, size) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = 0;
	if (utf8_valid(text, strlen(text)))
		check_client(text);
	check_guest(data, strlen(text));
	return 0;
}
