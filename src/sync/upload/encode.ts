import type { SessionMessage, TraceFields } from '../agents/agent.ts'
import { digestBytes } from '../digest.ts'
import { truncateFields, truncateMessage } from './truncate.ts'

/** A message as it is sent: its JSON text, the size of the text in bytes, and its digest. */
export type EncodedMessage = {
  readonly externalId: string
  readonly line: number
  readonly json: string
  readonly bytes: number
  readonly digest: Uint8Array
  /** A description of each text that had to be truncated. */
  readonly truncations: readonly string[]
}

/**
 * Every message passes through here before it is sent, so the service's limits on text are applied here. The digest is that
 * of the text that is sent. Throws RangeError when the message is nested too deeply for JSON.stringify.
 */
export const encodeMessage = (message: SessionMessage): EncodedMessage => {
  const { value, truncations } = truncateMessage(message)
  const json = JSON.stringify(value)
  return {
    externalId: message.externalId,
    line: message.order,
    json,
    bytes: Buffer.byteLength(json),
    digest: digestBytes(json),
    truncations,
  }
}

type EncodedFields = { readonly fields: ReadonlyMap<string, string>; readonly truncations: readonly string[] }

/** The trace's fields as they are sent, by name, and a description of each that had to be truncated. */
export const encodeFields = (traceFields: TraceFields): EncodedFields => {
  const { value, truncations } = truncateFields(traceFields)
  return { fields: new Map(Object.entries(value)), truncations }
}
