/* SPDX-License-Identifier: Apache-2.0 */
/* What is on the screen, and what keys do to it. */
#ifndef UI_H
#define UI_H

#include "changes.h"
#include "feed.h"
#include "views.h"

#define UI_HEADER_ROWS 4

enum prompt { PROMPT_NONE, PROMPT_SEARCH, PROMPT_THREAD, PROMPT_MODULE, PROMPT_FOCUS, PROMPT_TAG };

/* What was known of what is watched at the look before. */
struct notices {
	int pid; /* 0: nothing */
	char name[256];
	uint32_t processes;
};

struct ui {
	struct feed *feed;
	enum view view;
	struct table tables[VIEWS];
	struct choice choice;
	struct strips *strips;
	size_t states;	/* of state_choices */
	bool no_native; /* frames of C and the kernel are left out */
	double rate_hz;
	struct changes changes;
	struct waits waits;
	struct written written;
	struct notices notices;
	bool help;
	enum prompt prompt;
	char typed[64], sought[64], thread[64], module[64], focus[64], tag[64];
	char message[512]; /* until the next key */
	bool over;
	bool left;  /* by q, not by who wants it all to end */
	int signo;  /* for the program, when it is over */
	bool stale; /* the rows are not those of the look */
	bool look_again;
};

/** Which samples are shown, in turn; the first are all. */
struct state_choice {
	unsigned states; /* enum plumb_doing */
	const char *name;
};
extern const struct state_choice state_choices[];

/** How many views there are; the last one only of a program that was started here. */
int ui_views(const struct ui *ui);
/** Fill the rows of the view that is shown. */
void ui_fill(struct ui *ui);
void ui_draw(struct ui *ui);
void ui_key(struct ui *ui, int key);
/** Begin to type what @p prompt asks for; a key of it; what stands before it. */
void ui_ask(struct ui *ui, enum prompt prompt);
void ui_type(struct ui *ui, int key);
const char *ui_prompt(enum prompt prompt);
/** "": all. */
void ui_only_thread(struct ui *ui, const char *thread);
/** Choose the next row with what was searched for. */
void ui_search(struct ui *ui);
/** Whether @p key is about time, and it is done. */
bool ui_time_key(struct ui *ui, int key);
/** Make the comparison that is shown anew, for the width that the terminal has. */
void ui_compare(struct ui *ui);
/** There was a look: tell what happened to what is watched since the one before. */
void ui_notice(struct ui *ui);
/** What of it should be known now; "": nothing. */
const char *ui_state(const struct ui *ui);
void ui_tell(struct ui *ui, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** Tell @p err, which is destroyed. */
void ui_tell_error(struct ui *ui, struct plumb_error *err);

#endif
