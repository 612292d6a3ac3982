import type { AttributedLines, AttributedRange } from '../../contract/attribution.ts'
import type { SearchAnswer } from '../../contract/search.ts'
import type { ListedTrace, TraceDetail } from '../../contract/trace.ts'

/** The id of a session, and its namespace; without a namespace it is found as by `GET /v1/traces/{externalId}`. */
export type SessionName = { readonly externalId: string; readonly namespace?: string | undefined }

/** A session, with the slug of its namespace and the name of the user who recorded it. */
export type Entry<Trace extends ListedTrace = ListedTrace> = {
  readonly trace: Trace
  readonly slug: string
  readonly author: string
}

/** A message with its parts, as JSON text of the API, and when the service first got it. */
export type StoredMessage = { readonly json: string; readonly createdAt: number }

type Page = { readonly limit: number; readonly cursor?: string | undefined }
type Next = { readonly nextCursor?: string | undefined }

/** Consecutive lines of a file; `from` is the number of the first. */
export type AskedLines = {
  readonly path: string
  readonly lines: readonly string[]
  readonly from: number
  readonly repository?: string | undefined
  readonly namespace?: string | undefined
}

/** Which sessions of a namespace wrote lines. */
export type Blame = {
  readonly slug: string
  readonly ranges: readonly AttributedRange[]
  readonly unknown: [number, number][]
  readonly lines: AttributedLines
  readonly indexedThrough: number
}

/** All that tools can read: the sessions that one caller may read, and nothing else. */
export type Sessions = {
  /** Sessions of a namespace without their sub-agents, the latest first; without a namespace, of the one that the caller is active in. */
  readonly list: (
    asked: Page & { readonly namespace?: string | undefined },
  ) => Promise<Next & { readonly sessions: readonly Entry[] }>
  readonly get: (name: SessionName) => Promise<Entry<TraceDetail>>
  /** A page of messages; `around` is the externalId of the message in its middle. */
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
  /** Which sessions of a namespace wrote lines; without a namespace, of the one that the caller is active in. */
  readonly blame: (asked: AskedLines) => Promise<Blame>
  /** To be called between two steps of long work, so that other work gets its turn. */
  readonly turn: () => Promise<void> | undefined
  /** The address of the service, without a trailing slash. */
  readonly origin: string
  /** The time of the service, in milliseconds since 1970. */
  readonly now: () => number
  /** The text of an error for the caller. */
  readonly explain: (error: unknown) => string
}
