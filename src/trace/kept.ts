/** What stays in memory of traces that have been written to, beside the read models. */

import { textOf } from '../json/text.ts'
import type { Trace } from './decide.ts'
import type { MessageDocument } from './message.ts'

const KEPT_MESSAGES = 4_000
const KEPT_DOCUMENTS = 8
const KEPT_DOCUMENTS_LENGTH = 32 * 1024

/** Deletes the oldest entries of a map until no more than `most` are left. */
const shorten = (map: Map<string, unknown>, most: number) => {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}

const lengthOf = ({ parts, textContent }: MessageDocument) =>
  parts.reduce((sum, part) => sum + textOf(part).length, textContent?.length ?? 0)

/** Lets go of the oldest documents until the rest is short enough. */
const lighten = (documents: Map<string, MessageDocument>) => {
  shorten(documents, KEPT_DOCUMENTS)
  let total = 0
  for (const document of documents.values()) total += lengthOf(document)
  for (const [key, document] of documents) {
    if (total <= KEPT_DOCUMENTS_LENGTH) return
    documents.delete(key)
    total -= lengthOf(document)
  }
}

const TRACE_WEIGHT = 20
const MESSAGE_LENGTH = 250

/** About what a state takes in memory, in messages. Fields are weighed, too: a title may be as long as a body. */
export const weighTrace = (state: Trace): number => {
  if (state.is === 'absent') return TRACE_WEIGHT
  const { fields, summary, messages } = state
  const length = Object.values(fields).reduce((sum, text) => sum + text.length, summary?.summary.length ?? 0)
  return TRACE_WEIGHT + messages.size + Math.floor(length / MESSAGE_LENGTH)
}

/** Keeps what the next command is likely to need: what is known of the newest messages, and the last documents if short. */
export const trimTrace = (state: Trace): Trace => {
  if (state.is === 'absent') return state
  if (state.messages.size > KEPT_MESSAGES) shorten(state.messages, KEPT_MESSAGES / 2)
  state.missing.clear()
  lighten(state.documents)
  return state
}
