import type { SessionMessage, TraceFields } from './agents/agent.ts'
import { digest } from './agents/keys.ts'

/** A message as it leaves this machine: its JSON text, the text's size in bytes, and its digest. */
export type Outgoing = {
  readonly externalId: string
  readonly line: number
  readonly json: string
  readonly bytes: number
  readonly digest: string
}

/**
 * The one door through which messages leave: whatever must not be uploaded is taken out here. The digest is that of the very
 * text that is sent. Throws RangeError when the message is nested too deeply for JSON.stringify.
 */
export const outgoing = (message: SessionMessage): Outgoing => {
  const json = JSON.stringify(message)
  return {
    externalId: message.externalId,
    line: message.order,
    json,
    bytes: Buffer.byteLength(json),
    digest: digest(json),
  }
}

/** The door for the fields of the trace, as name and value. */
export const outgoingFields = (fields: TraceFields): ReadonlyMap<string, string> => new Map(Object.entries(fields))
