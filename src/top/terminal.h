/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal, ours from terminal_open() on, and as it was after terminal_close(). */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>

enum tone { TONE_PLAIN, TONE_HOT, TONE_WARN, TONE_FAINT, TONE_STRONG, TONE_BAR };

/** False: there is none that can be drawn on. */
bool terminal_open(bool color);
void terminal_close(void);
/** To wait on for keys. */
int terminal_fd(void);
/** The next key (those of ncurses, with ASCII for themselves); -1: none is waiting. The wheel is the keys up and down;
 * KEY_MOUSE: a click, on the row terminal_clicked(). */
int terminal_key(void);
int terminal_clicked(int *column);
void terminal_size(int *rows, int *columns);
/** It has another size by now. */
void terminal_resized(void);
/** Give it back, until terminal_resume(). */
void terminal_suspend(void);
void terminal_resume(void);

/** Begin a frame, put text on it, show it. Text is safe already; what does not fit into its line is cut. */
void terminal_clear(void);
void terminal_put(int row, int column, enum tone tone, bool reversed, const char *text);
/** All of the row is reversed. */
void terminal_mark(int row);
void terminal_show(void);

/** Put @p text, which is safe already, into its clipboard, if it has one and lets programs do so: it does not say. */
void terminal_copy(const char *text);

#endif
