/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of the text of the report page, where the build had no Node to make it (layer export; constant). */
#include "page.h"

const struct pl_page_text pl_page_built = {0};
