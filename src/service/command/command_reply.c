/*
 * command_reply.c - what the commands of a letter came to.
 */
#include "service/command/command.h"

void
command_reply_clear(struct command_reply *reply)
{
	g_free(reply->subject);
	g_free(reply->text);
	g_free(reply->pending);
	g_free(reply->new_address);
	g_free(reply->new_text);
	g_free(reply->old_address);
	g_free(reply->old_subject);
	g_free(reply->old_text);
	g_free(reply->undo);
	g_free(reply->suggestion);
	g_free(reply->confirm_token);
	g_free(reply->undo_token);
	g_free(reply->attachment);
	g_free(reply->attachment_name);
	g_free(reply->attachment_type);
	*reply = (struct command_reply){0};
}

static char *
fill_mark(char *text, const char *mark, const char *token)
{
	g_auto(GStrv) parts = text && token ? g_strsplit(text, mark, -1) : NULL;

	if (!parts)
		return text;
	g_free(text);
	return g_strjoinv(token, parts);
}

void
command_reply_fill(struct command_reply *reply, const char *confirm, const char *undo)
{
	reply->text = fill_mark(reply->text, COMMAND_CONFIRM_MARK, confirm);
	reply->text = fill_mark(reply->text, COMMAND_UNDO_MARK, undo);
}
