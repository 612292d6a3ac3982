import * as assert from 'uvu/assert'
import { groups } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { rebuild } from '../../../src/eventstore/engine/rebuild.ts'
import type { MessageUpsert } from '../../../src/server/trace/messages/message.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import type { App } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'
import { WITH_WORKER, type Suite, openWorld, signIn } from '../../support/world.ts'

/** A world with a user. Nothing but the test summarises traces. */
export const openHistory = async (test: Suite, env: Record<string, string> = {}) => {
  const world = await openWorld(test, { env: { ...WITH_WORKER, SUMMARY_PROVIDER: 'none', ...env } })
  return { ...world, user: await signIn(world.node) }
}

/** The rows of a schema, once none wait to be swept. */
const swept = async (url: string, schema: string) => {
  const waiting = ({ obsolete_rows = [], obsolete_entries = [] }: Awaited<ReturnType<typeof dumpSchema>>) =>
    obsolete_rows.length + obsolete_entries.length
  await until(async () => waiting(await dumpSchema(url, schema)) === 0)
  return dumpSchema(url, schema)
}

/** Asserts that all read models are as a rebuild makes them from the log. */
export const equalAfterRebuild = async ({ url }: { readonly url: string }, { service }: Pick<App, 'service'>) => {
  for (const group of groups) {
    const schema = schemaOf(group)
    const live = await swept(url, schema)
    await rebuild({ url, group, log: service.log, codec: service.codec })
    assert.equal(await swept(url, schema), live, group.name)
  }
}

/** The body of a batch, from upserts as decisions take them. */
export const batchBody = (upserts: readonly MessageUpsert[]): string => {
  const items = upserts.map(({ externalId, given }) => {
    const { parts, ...fields } = given
    const head = JSON.stringify({ externalId, ...fields }).slice(0, -1)
    return parts ? `${head},"parts":[${parts.map(({ json }) => json).join(',')}]}` : `${head}}`
  })
  return `{"messages":[${items.join(',')}]}`
}
