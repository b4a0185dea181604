/* SPDX-License-Identifier: Apache-2.0 */
/* resource.h - the resources of the server, and templates of the principal's own. */
#pragma once

/* The scopes that reading it needs: those of the tools that tell the same. */
unsigned resource_scopes(const char *uri);

/* Templates that completion knows; NULL behind the last.  See resource.c. */
const char *resource_template(unsigned index);
