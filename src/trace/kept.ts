/** What stays in memory of traces that have been written to, beside the read models. */

import { textBytes } from '../engine/bounded-cache.ts'
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

const partsLength = ({ parts }: MessageDocument) => parts.reduce((sum, part) => sum + part.json.length, 0)

const lengthOf = (document: MessageDocument) =>
  partsLength(document) + (document.textContent?.length ?? 0) + (document.model?.length ?? 0)

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

const TRACE_BYTES = 1_500
const DELETION_BYTES = 200
const COUNT_BYTES = 150
const DOCUMENT_BYTES = 400
const PART_BYTES = 300

const weighDeletions = ({ earlier }: Trace) => earlier.newest.length * DELETION_BYTES

const weighDocument = (document: MessageDocument) => {
  const { parts, textContent, model } = document
  return DOCUMENT_BYTES + textBytes([textContent, model]) + parts.length * PART_BYTES + 2 * partsLength(document)
}

/** About how many bytes a trace takes in memory. */
export const weighTrace = (state: Trace): number => {
  if (state.is === 'absent') return TRACE_BYTES + weighDeletions(state)
  const { externalId, fields, summary, counts, messages, documents } = state
  const tools = Object.keys(counts.toolTypeCounts)
  const texts = [externalId, ...Object.values(fields), summary?.title, summary?.summary, ...tools]
  let bytes = TRACE_BYTES + weighDeletions(state) + textBytes(texts) + tools.length * COUNT_BYTES + messages.bytes
  for (const [key, document] of documents) bytes += textBytes([key]) + weighDocument(document)
  return bytes
}

/** Keeps what the next command is likely to need: what is known of the newest messages, and the last documents if short. */
export const trimTrace = (state: Trace): Trace => {
  if (state.is === 'absent') return state
  if (state.messages.size > KEPT_MESSAGES) shorten(state.messages, KEPT_MESSAGES / 2)
  state.missing.clear()
  lighten(state.documents)
  return state
}
