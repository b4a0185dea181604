/* SPDX-License-Identifier: Apache-2.0 */
/* environment_image.c - reads the name of an image.  Trusts the user, and nothing of the image. */
#include "compose/cloister/environment_image.h"

#include "compose/cloister/config/line.h"
#include "compose/cloister/place.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* skopeo writes oci:. */
static const char *const before[] = { "oci-layout:", "oci:" };

/* A colon may also belong to the name of the directory. */
static const char *
take_tag(char *directory)
{
	char *colon = strrchr(directory, ':');

	if (colon == NULL || strchr(colon, '/') != NULL || access(directory, F_OK) == 0)
		return "";
	*colon = '\0';
	return colon + 1;
}

static int
read_name(const char *image, char directory[PLACE_PATH], struct err *e)
{
	for (size_t i = 0; i < COUNT(before); i++) {
		size_t size = strlen(before[i]);

		if (strncmp(image, before[i], size) != 0 || image[size] == '\0' ||
		    strlen(image) >= PLACE_PATH)
			continue;
		snprintf(directory, PLACE_PATH, "%s", image + size);
		return 0;
	}
	return err_set(e, ERR_invalid_argument,
	    "--image: write oci-layout:DIRECTORY or oci-layout:DIRECTORY:TAG. `skopeo copy "
	    "docker://NAME oci:DIRECTORY` makes one, or `docker save NAME | tar -xC DIRECTORY`");
}

int
environment_image_unpack(const char *image, const char *directory, struct err *e)
{
	char layout[PLACE_PATH], program[PLACE_PATH];
	struct line line = { 0 };

	if (read_name(image, layout, e) < 0 || place_program("cloister-unpack", program, e) < 0)
		return -1;

	const char *tag = take_tag(layout);
	const char *const words[] = { program, layout, tag, directory };

	for (size_t i = 0; i < COUNT(words); i++)
		line_add(&line, words[i]);

	int status = line_run(&line, e);

	line_clear(&line);
	return status;
}
