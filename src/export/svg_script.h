/* SPDX-License-Identifier: Apache-2.0 */
/* The text of svg.js; the build makes it. */
#ifndef PL_SVG_SCRIPT_H
#define PL_SVG_SCRIPT_H

extern const char pl_svg_script[];

#endif
