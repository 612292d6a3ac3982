/**
 * For how long a request waits for one thing that may pass by itself, in milliseconds: a log or a database that is away, other
 * writers to the same stream, read models that are behind. Then it is answered with 503. That is enough for a reconnection, and for
 * another process to take over where one dies; and so little that requests do not pile up behind an outage.
 */
export const REQUEST_WAIT_MS = 5_000
