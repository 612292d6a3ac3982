import type { SearchAnswer } from '../contract/search.ts'
import type { ListedTrace, TraceDetail } from '../contract/trace.ts'

/** The id of a session, and the namespace that it is in; without one, as for `GET /v1/traces/{externalId}`. */
export type SessionName = { readonly externalId: string; readonly namespace?: string | undefined }

/** A session, with what its own answer does not say of it: the slug of its namespace, and the name of who recorded it. */
export type Entry<Trace extends ListedTrace = ListedTrace> = {
  readonly trace: Trace
  readonly slug: string
  readonly author: string
}

/** A message with its parts, as JSON text of the API, and when the service first got it. */
export type StoredMessage = { readonly json: string; readonly createdAt: number }

type Page = { readonly limit: number; readonly cursor?: string | undefined }
type Next = { readonly nextCursor?: string | undefined }

/** What the tools read: everything that one caller may read, and nothing else. */
export type Sessions = {
  /** Sessions of a namespace, the latest first; without a namespace, of the one that the caller is active in. */
  readonly list: (
    asked: Page & { readonly namespace?: string | undefined },
  ) => Promise<Next & { readonly sessions: readonly Entry[] }>
  readonly get: (name: SessionName) => Promise<Entry<TraceDetail>>
  /** A page of messages; `around` is the externalId of a message that stands in its middle. */
  readonly messages: (
    name: SessionName,
    asked: Page & { readonly around?: string | undefined },
  ) => Promise<Next & { readonly messages: readonly StoredMessage[] }>
  /** All messages, in order. */
  readonly allMessages: (name: SessionName) => AsyncIterable<StoredMessage>
  /** Finds sessions by words, as `GET /v1/search` does. */
  readonly search: (
    asked: Page & { readonly q: string; readonly sort: 'relevance' | 'newest' },
  ) => Promise<SearchAnswer>
  /** Called between two steps of long work: others may want to do theirs. */
  readonly turn: () => Promise<void> | undefined
  /** The address of the service, without a trailing slash. */
  readonly origin: string
  /** The time of the service, in milliseconds since 1970. */
  readonly now: () => number
  /** What the caller is told of an error. */
  readonly explain: (error: unknown) => string
}
