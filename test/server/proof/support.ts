import * as assert from 'uvu/assert'
import { openCheckpoint } from '../../../src/server/proof/checkpoint.ts'
import { leafHashOf } from '../../../src/server/proof/entry.ts'
import { type Signer, generateSigner, parseVerifier } from '../../../src/server/proof/note.ts'
import type { TreeHead } from '../../../src/server/proof/tree.ts'
import type { EventLog, RecordedEvent } from '../../../src/eventstore/log/log.ts'
import { all } from '../../eventstore/log/support/events.ts'
import { type Database, onServer } from '../../support/database.ts'
import type { App } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'
import { WITH_WORKER } from '../../support/world.ts'
import { naiveRoot } from './naive.ts'

export const signer: Signer = generateSigner('traces.example.com/log')

/** The environment of a service whose checkpoints are signed. */
export const audited = { ...WITH_WORKER, AUDIT_KEY: signer.text }

/** A trace with so many messages; gives its id. */
export const writeTrace = async ({ call }: App, token: string, trace: string, count: number, text = 'text') => {
  assert.is((await call('PUT', `/v1/traces/${trace}`, { token, body: {} })).status, 200)
  for (let i = 0; i < count; i += 200) {
    const messages = Array.from({ length: Math.min(200, count - i) }, (_, k) => ({
      externalId: `m${i + k}`,
      role: 'user',
      textContent: `${text} ${i + k}`,
    }))
    assert.is((await call('POST', `/v1/traces/${trace}/messages/batch`, { token, body: { messages } })).status, 200)
  }
  const { data } = await call('GET', `/v1/traces/${trace}`, { token })
  return (data as { trace: { id: string } }).trace.id
}

export type LeafRow = { index: number; id: string; hash: Buffer; lost: string | null }

export const leavesIn = async ({ url }: Database): Promise<LeafRow[]> => {
  const text = 'select index::int4, event_id as id, hash, lost from tracebook.leaves order by index'
  return (await onServer(url, text)).rows as LeafRow[]
}

/** Waits until all events of the log have leaves; gives both. */
export const untilCovered = async (database: Database, log: EventLog) => {
  const head = await log.head()
  await until(async () => {
    const { rows } = await onServer(database.url, `select position from tracebook.processes where name = 'proof'`)
    return rows.length > 0 && BigInt(rows[0]!.position as string) >= head
  })
  return { leaves: await leavesIn(database), events: await all(log.readAll({ after: 0n })) }
}

/** Checks that the leaves are those of the events, in the order of the log. */
export const assertLeavesOf = (leaves: readonly LeafRow[], events: readonly RecordedEvent[]): void => {
  assert.equal(
    leaves.map(({ index, id }) => [index, id]),
    events.map(({ id }, i) => [i, id]),
  )
  for (const [i, event] of events.entries()) assert.ok(leaves[i]!.hash.equals(leafHashOf(event)), event.type)
}

/** The signed checkpoint that a service serves now. */
export const checkpointOf = async ({ app }: App, token?: string): Promise<TreeHead & { note: string }> => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const { body: note, statusCode } = await app.inject({ url: '/v1/audit/checkpoint', headers })
  assert.is(statusCode, 200, note)
  const key = (await app.inject({ url: '/v1/audit/key', headers })).json().data.key as string
  return { ...openCheckpoint(note, parseVerifier(key)), note }
}

/** Waits for a checkpoint of all leaves; checks its root. */
export const untilSigned = async (app: App, token: string, database: Database): Promise<TreeHead> => {
  const { leaves } = await untilCovered(database, app.service.log)
  const head = await until(async () => {
    const found = await checkpointOf(app, token)
    return found.size >= leaves.length && found
  })
  const hashes = (await leavesIn(database)).slice(0, head.size).map(({ hash }) => hash)
  assert.equal(head.root, naiveRoot(hashes))
  return head
}
