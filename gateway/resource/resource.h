/* SPDX-License-Identifier: Apache-2.0 */
/* resource.h - the resources of the server, and templates of the principal's own. */
#pragma once

/* Templates that completion knows; NULL behind the last.  See resource.c. */
const char *resource_template(unsigned index);
