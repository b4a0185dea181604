/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - cloister-unpack: makes an environment of an image; executed by `cloister environment
 * add --image`.
 *
 * A separate program because images come from elsewhere: it can read the layout, write the new
 * directory and nothing else, and it runs nothing of the image.  What it makes: rootfs, the files
 * of the image, and the file image: the path of its Python in it, and the minor version.
 */
#include "compose/cloister/unpack/confine.h"
#include "compose/cloister/unpack/interpreter.h"
#include "compose/cloister/unpack/layout.h"
#include "compose/cloister/unpack/tree.h"

#include "common/base/auto.h"
#include "common/base/environment_name.h"
#include "common/base/fdio.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static int
apply_all(const struct layout *layout, struct tree *tree, struct err *e)
{
	for (size_t i = 0; i < layout_layers(layout); i++) {
		auto_fd int layer = layout_layer(layout, i, e);

		if (layer < 0 || tree_apply(tree, layer, i > 0, e) < 0)
			return err_add(e, "layer %zu of %zu", i + 1, layout_layers(layout));
	}
	return 0;
}

static int
write_image(int to, const struct interpreter *interpreter, struct err *e)
{
	char text[ENVIRONMENT_PATH + 16];
	int n = snprintf(text, sizeof text, "%s %u\n", interpreter->path, interpreter->minor);

	return fdio_store(to, ENVIRONMENT_IMAGE, text, (size_t)n, 0644, e);
}

static int
unpack(struct layout *layout, const char *tag, int to, struct err *e)
{
	struct interpreter interpreter;
	auto_fd int root = fdio_directory(to, ENVIRONMENT_ROOTFS, 0755, e);
	struct tree tree = { .root = root };

	if (root < 0 || layout_open(layout, tag, e) < 0 || tree_begin(&tree, e) < 0 ||
	    apply_all(layout, &tree, e) < 0 ||
	    interpreter_find(&tree, layout, &interpreter, e) < 0 ||
	    write_image(to, &interpreter, e) < 0)
		return -1;
	printf("Python 3.%u at %s in an image of %llu files, %llu MB\n", interpreter.minor,
	    interpreter.path, (unsigned long long)tree.entries,
	    (unsigned long long)(tree.bytes >> 20));
	return 0;
}

static int
open_directory(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? err_sys(e, "%.150s", path) : fd;
}

int
main(int argc, char **argv)
{
	struct layout layout = { 0 };
	struct err e;

	if (argc != 4) {
		fputs("usage: cloister-unpack LAYOUT TAG DIRECTORY\n", stderr);
		return 2;
	}
	auto_fd int from = open_directory(argv[1], &e);
	auto_fd int to = from < 0 ? -1 : open_directory(argv[3], &e);

	layout.directory = from;
	if (to < 0 || confine(from, to, &e) < 0 ||
	    unpack(&layout, argv[2][0] != '\0' ? argv[2] : NULL, to, &e) < 0) {
		fprintf(stderr, "cloister: --image: %s\n", e.text);
		layout_clear(&layout);
		return 1;
	}
	layout_clear(&layout);
	return 0;
}
