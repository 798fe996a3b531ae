/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine: choosing one. Any thread. */
#include "engine.h"

#include <stdio.h>
#include <string.h>

#include "cpu_quota.h"
#include "debug.h"

double pl_engine_quota(void)
{
	return pl_cpu_quota();
}

/* What an engine must tell for what is to be shown. */
static unsigned needed_for(const struct pl_engine_options *o)
{
	return o->native ? PL_CAN_NATIVE : 0;
}

static struct plumb_error *probe(const struct pl_engine_ops *ops, const struct pl_engine_options *o)
{
	unsigned can = 0;
	struct plumb_error *err = ops->probe(o, &can);

	if (err || !(needed_for(o) & ~can))
		return err;
	return pl_error_hint(pl_error(PLUMB_ERR_INVALID, "the engine %s has no native frames here", ops->name),
			     "ask for none, or for another engine");
}

static struct plumb_error *ask(const struct pl_engine_ops *ops, const struct pl_engine_options *o)
{
	struct plumb_error *err = probe(ops, o);

	pl_debug(PL_DEBUG_ENGINE, "engine %s: %s", ops->name,
		 err ? plumb_error_message(err) : "can do what is asked for");
	return err;
}

static struct plumb_error *first_that_can(const struct pl_engine_options *o, const struct pl_engine_ops **ret)
{
	struct plumb_error *first = NULL;

	for (size_t i = 0; pl_engines[i]; i++) {
		struct plumb_error *err = ask(pl_engines[i], o);
		if (!err) {
			*ret = pl_engines[i];
			plumb_error_destroy(first);
			return NULL;
		}
		if (i)
			plumb_error_destroy(err);
		else
			first = err;
	}
	return first;
}

static struct plumb_error *unknown(const char *name)
{
	char names[256] = "auto";
	size_t len = strlen(names);

	for (size_t i = 0; pl_engines[i] && len < sizeof names; i++)
		len += (size_t)snprintf(names + len, sizeof names - len, ", %s", pl_engines[i]->name);
	return pl_error_hint(pl_error(PLUMB_ERR_INVALID, "there is no engine '%s'", name), "there are: %s", names);
}

struct plumb_error *pl_engine_choose(const char *name, const struct pl_engine_options *o,
				     const struct pl_engine_ops **ret)
{
	if (!name || strcmp(name, "auto") == 0)
		return first_that_can(o, ret);
	for (size_t i = 0; pl_engines[i]; i++)
		if (strcmp(name, pl_engines[i]->name) == 0) {
			*ret = pl_engines[i];
			return ask(pl_engines[i], o);
		}
	return unknown(name);
}
