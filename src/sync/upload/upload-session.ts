import type { Session, SessionMessage } from '../agents/agent.ts'
import { digest } from '../agents/keys.ts'
import { batches, fits } from './batches.ts'
import { type Outgoing, outgoing, outgoingFields } from './encode.ts'
import type { FileState } from './file-states.ts'

/** Where a session's changes go: to the server, or, in a dry run, nowhere. */
export type Target = {
  /** Makes sure that the trace is there and has these fields; false when it was deleted on the server. */
  readonly place: (fields: ReadonlyMap<string, string>) => Promise<boolean>
  readonly send: (batch: readonly Outgoing[]) => Promise<void>
  /** Told what was cut of the trace's fields or of a message, in words. */
  readonly cut: (what: string) => void
  readonly leftOut: (message: { readonly externalId: string; readonly line: number }, why: string) => void
}

export type Uploaded = 'sent' | 'nothing to send' | 'empty' | 'deleted'

const tooBig = 'over 16 MiB, more than the server takes: left out'
const tooDeep = 'nested too deeply: left out'

const encoded = (message: SessionMessage): Outgoing | undefined => {
  try {
    return outgoing(message)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** The messages that the server does not have as they are now. */
async function* changed(
  messages: AsyncIterable<SessionMessage>,
  state: FileState,
  { cut, leftOut }: Target,
): AsyncGenerator<Outgoing> {
  for await (const message of messages) {
    const out = encoded(message)
    if (!out) leftOut({ externalId: message.externalId, line: message.order }, tooDeep)
    else if (!fits(out)) leftOut(out, tooBig)
    else if (state.messages.get(out.externalId) !== out.digest) {
      for (const what of out.cut) cut(`message ${out.externalId}: ${what}`)
      yield out
    }
  }
}

/** Passes `items` on, and tells `seen` about each. */
async function* watched<T>(items: AsyncIterable<T>, seen: () => void): AsyncGenerator<T> {
  for await (const item of items) {
    seen()
    yield item
  }
}

/**
 * Sends what changed of a session since `state`, batch by batch, the trace before its first message. A session without
 * messages makes no trace.
 */
export const uploadSession = async (session: Session, state: FileState, target: Target): Promise<Uploaded> => {
  const { fields, cut } = outgoingFields(session.trace)
  const news = new Map([...fields].filter(([name, value]) => state.fields.get(name) !== digest(value)))
  if (news.size > 0) cut.forEach(target.cut)
  let count = 0
  let placed = false
  const messages = watched(session.messages(), () => count++)
  for await (const batch of batches(changed(messages, state, target))) {
    if (!placed && !(await target.place(news))) return 'deleted'
    placed = true
    await target.send(batch)
  }
  if (count === 0) return 'empty'
  if (placed) return 'sent'
  if (news.size === 0 || !state.stored) return 'nothing to send'
  return (await target.place(news)) ? 'sent' : 'deleted'
}
