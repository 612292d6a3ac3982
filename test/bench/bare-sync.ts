import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { claudeCode } from '../../src/client/agents/claude-code/index.ts'
import { batchJson } from '../../src/client/api/client.ts'
import { toBatches } from '../../src/client/upload/batches.ts'
import { type EncodedMessage, encodeMessage } from '../../src/client/upload/encode.ts'
import { openConnection, requestBytes } from './http.ts'
import type { World } from './world.ts'

type Batch = readonly EncodedMessage[]
/** The batches of one session, as the client sends them. */
export type SessionBatches = { readonly externalId: string; readonly batches: readonly Batch[] }

/** As many sessions are on their way at once in the client. */
const CONNECTIONS = 16

/** What a first sync of the sessions in a folder sends, without redaction. */
export const batchesOf = async (folder: string): Promise<readonly SessionBatches[]> => {
  const found: SessionBatches[] = []
  for (const name of await readdir(folder))
    for await (const stored of claudeCode.sessions(join(folder, name))) {
      const session = await stored.read({ onMalformed: () => {} })
      const messages: EncodedMessage[] = []
      for await (const message of session.messages()) messages.push(encodeMessage(message))
      found.push({ externalId: session.externalId, batches: await Array.fromAsync(toBatches(Readable.from(messages))) })
    }
  return found
}

/** Messages a second when these batches are sent and nothing else is done: each session's in their order, to traces that are there. */
export const sendBare = async (world: World, device: string, sessions: readonly SessionBatches[]): Promise<number> => {
  const { authorization } = await world.signIn(device)
  // Not the sessions' own ids, which are for the sync of another user.
  const waiting = sessions.map(({ externalId, batches }) => ({ externalId: `${externalId}-bare`, batches }))
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => openConnection(world.url)))
  for (const { externalId } of waiting) {
    const { status, text } = await world.call('PUT', `/v1/traces/${externalId}`, authorization, {})
    if (status !== 200) throw new Error(`trace: ${status} ${text}`)
  }
  const started = performance.now()
  await Promise.all(
    connections.map(async (connection) => {
      for (let next = waiting.shift(); next; next = waiting.shift())
        for (const batch of next.batches) {
          const path = `/v1/traces/${next.externalId}/messages/batch`
          const body = batchJson(batch.map(({ json }) => json))
          const { status } = await connection.send(requestBytes('POST', path, { authorization }, body))
          if (status !== 200) throw new Error(`batch: ${status}`)
        }
    }),
  )
  const ms = performance.now() - started
  for (const connection of connections) connection.close()
  const messages = sessions.flatMap(({ batches }) => batches).reduce((sum, batch) => sum + batch.length, 0)
  return (messages * 1_000) / ms
}
