/* SPDX-License-Identifier: Apache-2.0 */
/* Where the figures come from: a session or a recording, asked once for each frame. */
#ifndef FEED_H
#define FEED_H

#include "top.h"

#define FEED_RECENT_S 5

/** What one frame shows. Views are NULL where there is nothing to see. */
struct look {
	struct plumb_profile *all_profile, *recent_profile, *second_profile; /* owned, as the views */
	struct plumb_view *all, *recent, *second; /* since the start, of the last 5 seconds, of the last one */
	struct plumb_profile_info info;		  /* since the start */
	struct plumb_view_totals totals, recent_totals;
	struct plumb_view_process process; /* the one that most was seen of; pid 0: none */
	const char *sentence;		   /* what is wrong, "" */
};

/* What was typed to filter by; "": what was asked for at first. */
struct feed_words {
	char thread[64], module[64], like[64], tag[64];
	const char *threads[1], *modules[1], *tags[1]; /* of these, for views */
};

struct feed {
	const struct top_options *o;
	struct plumb_session *session;	 /* NULL: a recording */
	struct plumb_profile *recording; /* NULL: a session */
	struct plumb_report_options filters;
	struct feed_words wanted, words[2]; /* words: `filters` and views point to these */
	unsigned shown;			    /* the ones that the look was made with */
	struct plumb_status status;
	struct look look;
	int pid;			 /* of the process that most was seen of, when one was seen last */
	bool filtered;			 /* other filters than before */
	uint64_t all_due_ns;		 /* when what is since the start is made anew */
	bool timed;			 /* stretches of time can be asked for */
	bool still;			 /* `shown_ns` is shown, not what is now */
	uint64_t shown_ns, stayed_ns;	 /* since the start; stayed: when it was said to stay */
	char output[64];		 /* the file that the started program writes to; "" */
	int output_fd;			 /* to read it; -1: none */
	char own_output[256], page[256]; /* what was written last; "" */
	char left[16];			 /* the process of the program, which goes on without us; "" */
	bool launched;
	int wait_status;
};

/** Begin to watch. Errors: those of the session, or of reading the recording. */
struct plumb_error *feed_open(struct feed *f, const struct top_options *o) PLUMB_MUST_CHECK;
/** Look again. On an error the look is that of before. */
struct plumb_error *feed_refresh(struct feed *f) PLUMB_MUST_CHECK;
/** Show the time that is shown now until feed_go_on(); sampling goes on. */
void feed_stay(struct feed *f);
void feed_go_on(struct feed *f);
/** Stay, at a time so much later, or earlier; as far as there are figures. Only where `timed`. */
struct plumb_error *feed_step(struct feed *f, int64_t by_ns) PLUMB_MUST_CHECK;
/** The time that is shown. */
uint64_t feed_shown_ns(const struct feed *f);
/** What was counted from *from_ns to *to_ns, without the filters; the times become those it is of. Owner of *ret:
 * caller. Only where `timed`. */
struct plumb_error *feed_between(struct feed *f, uint64_t *from_ns, uint64_t *to_ns,
				 struct plumb_profile **ret) PLUMB_MUST_CHECK;
/** From the next look on: only this thread, by name or number; samples with a frame of that module, package, file or
 * folder; with one like that regular expression, which is valid; with that label, as name or name=value. "": as was
 * asked for at first. */
void feed_only_thread(struct feed *f, const char *thread);
void feed_only_module(struct feed *f, const char *module);
void feed_only_like(struct feed *f, const char *pattern);
void feed_only_tag(struct feed *f, const char *tag);
/** Only samples of these states (enum plumb_doing) from now on; 0: all. */
void feed_only_states(struct feed *f, unsigned states);
/** Only frames of these kinds (enum plumb_kind) from now on; 0: all. */
void feed_only_kinds(struct feed *f, unsigned kinds);
/** Keep all that was counted as the recording *name, which is chosen. */
struct plumb_error *feed_save(struct feed *f, const char **name) PLUMB_MUST_CHECK;
/** Write it as a page, *name, with the filters that were given at first. */
struct plumb_error *feed_page(struct feed *f, const char **name) PLUMB_MUST_CHECK;
/** A file for @p name, which is a free one: plumb.top.4242.out, or plumb.top.4242.2.out and so on. */
struct plumb_error *feed_open_free(int pid, const char *suffix, char *name, size_t size,
				   struct plumb_output **ret) PLUMB_MUST_CHECK;
/** Stop, as Ctrl-Z asks for, until somebody goes on with us; meanwhile nothing of the program is held. */
void feed_stand_still(struct feed *f);
/** Sampling is over: wait for the end of the program that was started, process @p pid, and pass on to it what comes.
 * False: it goes on, as a second signal has ended the wait. True also where its end cannot be waited for so. */
bool feed_await_program(struct feed *f, int pid);
/** End: @p signo goes to a program that was started, unless it is 0. */
struct plumb_error *feed_close(struct feed *f, int signo) PLUMB_MUST_CHECK;

#endif
