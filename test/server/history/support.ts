import type { MessageUpsert } from '../../../src/server/trace/messages/message.ts'
import { type Suite, openWorld, signIn } from '../../support/world.ts'

/** A world with a user. Nothing but the test summarises traces. */
export const openHistory = async (test: Suite, env: Record<string, string> = {}) => {
  const world = await openWorld(test, { env: { SUMMARY_PROVIDER: 'none', ...env } })
  return { ...world, user: await signIn(world.node) }
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
