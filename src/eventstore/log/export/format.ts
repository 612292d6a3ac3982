import { z } from 'zod'
import { escapeControls } from '../../../base/escape.ts'
import { isId } from '../../../base/ids.ts'
import type { RecordedEvent } from '../log.ts'

/**
 * An exported log: a file of JSON lines. The first line is the header, then comes a line for each event in the order of the
 * log, and at the end a trailer with the number of events and the SHA-256 of all bytes before it. Metadata and data of an event
 * are the recorded texts, as JSON strings; revision and position are decimal texts.
 */
const VERSION = 1

/** Which events the file has: all, those of a namespace and its traces, or those of one trace. */
export const Scope = z.discriminatedUnion('is', [
  z.object({ is: z.literal('log') }),
  z.object({ is: z.literal('namespace'), id: z.string(), slug: z.string() }),
  z.object({ is: z.literal('trace'), id: z.string() }),
])
export type Scope = z.infer<typeof Scope>

export const Header = z.object({
  tracebookLog: z.literal(VERSION),
  /** The id of the log, as in `GET /v1/session`. */
  logId: z.string(),
  scope: Scope,
  /** Milliseconds. */
  exportedAt: z.int(),
})
export type Header = z.infer<typeof Header>

const Decimal = z.string().regex(/^(0|[1-9]\d{0,18})$/)

const EventLine = z.object({
  id: z.string().refine(isId),
  stream: z.string().regex(/^[a-z]+-./),
  revision: Decimal,
  position: Decimal,
  type: z.string().min(1),
  metadata: z.string(),
  data: z.string(),
})

export const Trailer = z.object({
  events: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** The file has all events up to this position of the log. */
  through: Decimal,
})
export type Trailer = z.infer<typeof Trailer>

/** An event as a line. Characters that would control a terminal are escaped as JSON allows. */
export const eventLine = ({ id, stream, revision, position, type, metadata, data }: RecordedEvent): string => {
  const texts = { id, stream, revision: `${revision}`, position: `${position}`, type, metadata, data }
  return `${escapeControls(JSON.stringify(texts))}\n`
}

export type Line =
  | { readonly is: 'header'; readonly header: Header }
  | { readonly is: 'event'; readonly event: RecordedEvent }
  | { readonly is: 'trailer'; readonly trailer: Trailer }

/** A parsed line, or a text that says what is wrong with it. */
export const parseLine = (text: string): Line | string => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'this is not JSON'
  }
  const event = EventLine.safeParse(value)
  if (event.success) {
    const { revision, position, ...rest } = event.data
    return { is: 'event', event: { ...rest, revision: BigInt(revision), position: BigInt(position) } }
  }
  const header = Header.safeParse(value)
  if (header.success) return { is: 'header', header: header.data }
  const trailer = Trailer.safeParse(value)
  return trailer.success ? { is: 'trailer', trailer: trailer.data } : 'this is neither an event nor a header or trailer'
}
