import { type EventFormat, formatsOf } from '../engine/codec.ts'
import { textOf } from '../json/text.ts'
import { TraceEvent } from './events.ts'
import type { Part } from './part.ts'

type WithParts = { readonly parts: readonly Part[] }

/** A message's parts have been written out for its digest already: their text is used again. */
const writeMessage = ({ parts, ...head }: WithParts): string =>
  `${JSON.stringify(head).slice(0, -1)},"parts":[${parts.map(textOf).join(',')}]}`

/** How the events of traces are written and read. */
export const traceFormats: Readonly<Record<string, EventFormat>> = {
  ...formatsOf(TraceEvent),
  MessageAdded: { ...formatsOf(TraceEvent).MessageAdded!, write: writeMessage as (data: never) => string },
}
