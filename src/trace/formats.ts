import { type EventFormat, formatsOf } from '../engine/codec.ts'
import { textOf } from '../json/text.ts'
import { type PatchOperation, TraceEvent } from './events.ts'
import type { Part } from './part.ts'

type WithParts = { readonly parts: readonly Part[] }
type WithPatch = { readonly patch: readonly PatchOperation[] }

const textsOf = (values: readonly object[]): string => values.map(textOf).join(',')

/** A message's parts have been written out for its digest already: their text is used again. */
const writeMessage = ({ parts, ...head }: WithParts): string =>
  `${JSON.stringify(head).slice(0, -1)},"parts":[${textsOf(parts)}]}`

const writeChange = ({ patch, ...head }: WithPatch): string =>
  `${JSON.stringify(head).slice(0, -1)},"patch":[${textsOf(patch)}]}`

const { MessageAdded, MessageUpdated, ...others } = formatsOf(TraceEvent) as Record<string, EventFormat>

/** How the events of traces are written and read. */
export const traceFormats: Readonly<Record<string, EventFormat>> = {
  ...others,
  MessageAdded: { ...MessageAdded!, write: writeMessage as (data: never) => string },
  MessageUpdated: { ...MessageUpdated!, write: writeChange as (data: never) => string },
}
