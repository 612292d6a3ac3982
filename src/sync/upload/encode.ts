import type { SessionMessage, TraceFields } from '../agents/agent.ts'
import { digest } from '../agents/keys.ts'
import { cutFields, cutMessage } from './truncate.ts'

/** A message as it leaves this machine: its JSON text, the text's size in bytes, and its digest. */
export type Outgoing = {
  readonly externalId: string
  readonly line: number
  readonly json: string
  readonly bytes: number
  readonly digest: string
  /** What of its short text had to be cut, in words. */
  readonly cut: readonly string[]
}

/**
 * The one door through which messages leave: whatever must not be uploaded is taken out here. The digest is that of the very
 * text that is sent. Throws RangeError when the message is nested too deeply for JSON.stringify.
 */
export const outgoing = (message: SessionMessage): Outgoing => {
  const { within, cut } = cutMessage(message)
  const json = JSON.stringify(within)
  return {
    externalId: message.externalId,
    line: message.order,
    json,
    bytes: Buffer.byteLength(json),
    digest: digest(json),
    cut,
  }
}

/** The door for the fields of the trace, as name and value, and what had to be cut. */
export const outgoingFields = (all: TraceFields): { fields: ReadonlyMap<string, string>; cut: readonly string[] } => {
  const { within, cut } = cutFields(all)
  return { fields: new Map(Object.entries(within)), cut }
}
