import { parseExact } from '../../base/json/exact.ts'
import type { Connection } from '../login/connect.ts'
import type { EncodedMessage } from './encode.ts'
import { newStoredMessages } from './stored-messages.ts'
import { type AnyMessage, isSameMessage, isWithin } from './within.ts'

type Batch = readonly EncodedMessage[]

/** The messages of a batch that the service lacks or has otherwise, those that it has, and those of which it has more. */
export type Compared = { readonly toSend: Batch; readonly same: Batch; readonly shorter: Batch }

/**
 * Compares batches with a trace that is there, before anything is sent to it from a source: others may have sent a later version
 * of the session, of which nothing is to be taken away. Throws RequestFailed.
 */
export const newComparison = (connection: Connection, externalId: string): ((batch: Batch) => Promise<Compared>) => {
  const storedMessages = newStoredMessages(connection, externalId)
  return async (batch) => {
    const stored = await storedMessages(batch.map(({ externalId: id }) => id))
    const kindOf = ({ externalId: id, json }: EncodedMessage): keyof Compared => {
      const found = stored.get(id)
      if (!found) return 'toSend'
      const message = parseExact(json) as AnyMessage
      if (isSameMessage(message, found)) return 'same'
      return isWithin(message, found) && !isWithin(found, message) ? 'shorter' : 'toSend'
    }
    const { toSend = [], same = [], shorter = [] } = Object.groupBy(batch, kindOf)
    return { toSend, same, shorter }
  }
}
