/*
 * senders.h - threads that deliver, one transport each and no store.
 *
 * The post hands tasks in and takes them back with what became of them; the
 * queues between are all that they share.
 */
#ifndef PAPERBOY_SERVICE_SENDERS_H
#define PAPERBOY_SERVICE_SENDERS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "service/pulse.h"
#include "store/outbox.h"
#include "transport/transport.h"

/* What a sender is given, and gives back. */
struct task {
	struct parcel parcel;   /* first: the transport gives it back */
	struct outbox_job *job; /* owned; lends the recipient */
	GBytes *message; /* owned; NULL once its octets are not needed any more */
	char *id;        /* owned; of the envelope: the same at every attempt */
};

/**
 * @param job      taken
 * @param message  taken
 * @param id       taken
 * @param sender   where bounces go; borrowed from the job or the post
 */
struct task *
task_new(struct outbox_job *job, GBytes *message, char *id, const char *sender);

void task_free(struct task *task);

struct senders;

/**
 * Start threads.
 *
 * @param new_transport  called once for each, in this thread
 * @param pulses         where they promise to live on; or NULL
 * @param stop_fd        once readable no answer is waited for; borrowed; or NULL
 * @return NULL when a thread cannot be had
 */
struct senders *
senders_new(unsigned count, struct transport *(*new_transport)(void *data), void *data,
    struct pulses *pulses, const int *stop_fd, GError **error);

/** End the threads, which finish what they have. */
void senders_free(struct senders *senders);

/** Give a task to whoever is free first. @param task taken */
void senders_push(struct senders *senders, struct task *task);

/** Take a task back that nobody has begun. @return owned, or NULL */
struct task *senders_take_back(struct senders *senders);

/**
 * Take one that was delivered, or not.
 *
 * @param wait_us  how long to wait for it; 0 not at all, -1 for ever
 * @return owned, or NULL when there was none in time
 */
struct task *senders_pop(struct senders *senders, int64_t wait_us);

#endif
