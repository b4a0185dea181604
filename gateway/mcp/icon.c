/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icon.c - SVG drawings as data: URIs, so that a client needs no network to show them.
 *
 * Shapes are strokes in the colour of the text on a transparent ground, so they fit light and dark
 * themes.
 */
#include "gateway/mcp/icon.h"

#include "common/base/auto.h"
#include "common/table/schema.h"

#include <stdio.h>
#include <string.h>

#define FRAME "<rect x='2' y='4' width='20' height='16' rx='2'/>"

static const char *const shapes[ICON_COUNT] = {
	/* an arch on pillars */
	[ICON_server] = "<path d='M3 21V10a9 9 0 0 1 18 0v11M8 21v-9a4 4 0 0 1 8 0v9M2 21h20'/>",
	/* a prompt */
	[ICON_core] = FRAME "<path d='M6 9l4 3-4 3M12 15h5'/>",
	/* a dial */
	[ICON_monitor] = "<path d='M3 17a9 9 0 1 1 18 0M12 17l5-6'/>",
};

/* Percent-encodes the characters of the drawing that a URI may not contain. */
static void
write_uri(char *to, size_t size, const char *shape)
{
	static const char digits[] = "0123456789ABCDEF";
	char svg[512];
	int n = snprintf(svg, sizeof svg,
	    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' "
	    "stroke='gray' stroke-width='2'>%s</svg>",
	    shape);
	size_t used = (size_t)snprintf(to, size, "data:image/svg+xml,");

	must(n > 0 && (size_t)n < sizeof svg && used + 3 * (size_t)n < size);
	for (const char *at = svg; *at != '\0'; at++) {
		if (strchr("<> #%\"", *at) == NULL) {
			to[used++] = *at;
			continue;
		}
		to[used++] = '%';
		to[used++] = digits[(unsigned char)*at >> 4];
		to[used++] = digits[*at & 15];
	}
	to[used] = '\0';
}

void
icon_add(json_t *object, const struct revision *revision, enum icon icon)
{
	static char uris[ICON_COUNT][2048];

	if (!revision->icons)
		return;
	if (uris[icon][0] == '\0')
		write_uri(uris[icon], sizeof uris[icon], shapes[icon]);
	json_object_set_new(object, "icons",
	    json_pack("[{s:s, s:s, s:[s]}]", "src", uris[icon], "mimeType", "image/svg+xml",
		"sizes", "any"));
}

enum icon
icon_of_toolsets(unsigned toolsets)
{
	return (toolsets & MONITOR) != 0 ? ICON_monitor : ICON_core;
}
