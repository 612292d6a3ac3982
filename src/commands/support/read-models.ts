import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { type Client, readCheckpoint } from '../../eventstore/engine/checkpoint.ts'
import { type Group, schemaOf } from '../../eventstore/engine/group.ts'
import { schemasOf } from '../../eventstore/engine/schema.ts'
import { newApplyingClient, withConnection } from '../../eventstore/postgres/connect.ts'

/** @throws Error that names the schema of a group which the database has not */
export const assertHasSchema = async (client: Client, group: Group): Promise<void> => {
  const schema = schemaOf(group)
  if (!(await schemasOf(client, group)).includes(schema))
    throw new Error(
      `The database has no read models ${schema}. Start a service of this version on it first, or set DATABASE_URL to another one.`,
    )
}

/** Runs `work` with a connection to the schema of a group of read models. @throws Error when the database has no such schema */
export const withSchema = async <T>(
  url: string,
  group: Group,
  work: (client: pg.Client, schema: string) => Promise<T>,
): Promise<T> => {
  const schema = schemaOf(group)
  return withConnection(newApplyingClient(url, schema), async (client) => {
    await assertHasSchema(client, group)
    return work(client, schema)
  })
}

const CATCH_UP_TIMEOUT_MS = 10_000

const POLL_MS = 50

/** Whether the read models of all groups reach a position within ten seconds. They do not while no projector runs. */
export const haveCaughtUp = async (url: string, groups: readonly Group[], position: bigint): Promise<boolean> => {
  const deadline = performance.now() + CATCH_UP_TIMEOUT_MS
  for (const group of groups) {
    const hasCaughtUp = await withSchema(url, group, async (client, schema) => {
      while ((await readCheckpoint(client, schema)).position < position) {
        if (performance.now() > deadline) return false
        await setTimeout(POLL_MS)
      }
      return true
    })
    if (!hasCaughtUp) return false
  }
  return true
}
