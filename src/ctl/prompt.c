/*
 * prompt.c - questions on a terminal.
 */
#include "ctl/prompt.h"

#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

char *
prompt_read_line(FILE *input)
{
	char *line = NULL, *answer = NULL;
	size_t size = 0;
	ssize_t count = getline(&line, &size, input);

	for (ssize_t i = 0; i < count; i++)
		if (!line[i])
			line[i] = '\1';
	if (count >= 0)
		answer = g_strndup(line, strcspn(line, "\r\n"));
	if (line)
		explicit_bzero(line, size);
	free(line);
	return answer;
}

static void
print_prompt(const char *text, const char *usual)
{
	printf("%s%s%s%s: ", text, usual ? " [" : "", usual ? usual : "",
	    usual ? "]" : "");
	fflush(stdout);
}

char *
prompt_ask(const char *text, const char *usual)
{
	char *answer;

	print_prompt(text, usual);
	answer = prompt_read_line(stdin);
	return answer ? g_strstrip(answer) : NULL;
}

static void
set_echo(bool is_on)
{
	struct termios mode;

	if (tcgetattr(STDIN_FILENO, &mode) != 0)
		return;
	if (is_on)
		mode.c_lflag |= ECHO;
	else
		mode.c_lflag &= ~(tcflag_t)ECHO;
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &mode);
}

/* A signal acts once the terminal shows again what is typed. */
char *
prompt_ask_secret(const char *text)
{
	struct pollfd items[] = {
	    {.fd = STDIN_FILENO, .events = POLLIN}, {.events = POLLIN}};
	sigset_t signals, old;
	char *answer = NULL;

	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGTSTP);
	items[1].fd = signalfd(-1, &signals, SFD_CLOEXEC);
	do {
		sigprocmask(SIG_BLOCK, &signals, &old);
		set_echo(false);
		print_prompt(text, NULL);
		poll(items, G_N_ELEMENTS(items), -1);
		if (!items[1].revents)
			answer = prompt_read_line(stdin);
		set_echo(true);
		putchar('\n');
		sigprocmask(SIG_SETMASK, &old, NULL);
	} while (items[1].revents & POLLIN);
	close(items[1].fd);
	return answer;
}
