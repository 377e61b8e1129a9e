/*
 * mailbox.c - what is the same for all mailboxes.
 */
#include "mailbox/mailbox.h"

bool
mailbox_serve(struct mailbox *mailbox, const struct mailbox_sink *sink, int stop_fd,
    GError **error)
{
	return mailbox->serve(mailbox, sink, stop_fd, error);
}

bool
mailbox_sweep(struct mailbox *mailbox, const struct mailbox_sink *sink, GError **error)
{
	return !mailbox->sweep || mailbox->sweep(mailbox, sink, error);
}

void
mailbox_free(struct mailbox *mailbox)
{
	if (mailbox)
		mailbox->free(mailbox);
}
