/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see feed.h. Which time is shown: now, or one that has passed, of which the cycles or the recording tell.
 */
#include "feed.h"

#define NS_PER_S 1000000000ull

static uint64_t earlier(uint64_t ns, uint64_t by)
{
	return ns > by ? ns - by : 0;
}

/* From when to when there is something to show. */
static struct plumb_error *kept(const struct feed *f, uint64_t *from_ns, uint64_t *to_ns)
{
	*from_ns = 0;
	*to_ns = f->session ? UINT64_MAX : f->look.info.duration_ns;
	return f->session ? plumb_session_between(f->session, from_ns, to_ns, NULL) : NULL;
}

void feed_stay(struct feed *f)
{
	if (f->still || !f->look.all)
		return;
	f->still = true;
	f->shown_ns = f->stayed_ns = f->session ? f->status.elapsed_ns : f->look.info.duration_ns;
}

void feed_go_on(struct feed *f)
{
	f->still = false;
	f->shown_ns = f->recording ? f->look.info.duration_ns : 0;
}

struct plumb_error *feed_step(struct feed *f, int64_t by_ns)
{
	uint64_t from_ns, to_ns;
	struct plumb_error *err = kept(f, &from_ns, &to_ns);

	if (err)
		return err;
	feed_stay(f);
	uint64_t first_ns = from_ns + NS_PER_S < to_ns ? from_ns + NS_PER_S : to_ns;
	uint64_t wanted_ns = by_ns < 0 ? earlier(f->shown_ns, (uint64_t)-by_ns) : f->shown_ns + (uint64_t)by_ns;
	f->shown_ns = wanted_ns < first_ns ? first_ns : wanted_ns > to_ns ? to_ns : wanted_ns;
	return NULL;
}

uint64_t feed_shown_ns(const struct feed *f)
{
	return f->still || f->recording ? f->shown_ns : f->status.elapsed_ns;
}

struct plumb_error *feed_between(struct feed *f, uint64_t *from_ns, uint64_t *to_ns, struct plumb_profile **ret)
{
	struct plumb_report_options o = PLUMB_REPORT_OPTIONS_INIT;

	if (f->session)
		return plumb_session_between(f->session, from_ns, to_ns, ret);
	o.from_ns = *from_ns;
	o.to_ns = *to_ns;
	return plumb_profile_refine(f->recording, &o, ret);
}
