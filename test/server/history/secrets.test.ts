import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { NamespaceEvent } from '../../../src/server/namespace/events.ts'
import { TraceEvent } from '../../../src/server/trace/events.ts'
import { freshDatabase } from '../../support/database.ts'
import { openApp } from '../../support/open-app.ts'
import { dataOf, newAsk, okText, signIn } from './support.ts'

const test = suite('history: secrets')

const database = await freshDatabase()
const node = await openApp(database.url)
test.after(async () => {
  await node.close()
  await database.drop()
})

type Invite = { code: string; email?: string }
type One = { event: { type: string; data: Invite } }

test('single events are exact, for admins only, who see whole invites in their list anyway; timelines hide secrets', async () => {
  const [ada, bob] = [await signIn(node), await signIn(node)]
  const [ask, asBob] = [newAsk(node, ada.token), newAsk(node, bob.token)]
  const slug = `team-${randomUUID().slice(0, 8)}`
  const url = `/v1/namespaces/${slug}`
  await okText(ask('POST', '/v1/namespaces', JSON.stringify({ slug, displayName: 'Team' })))
  const { invite: open } = await dataOf<{ invite: Invite }>(ask('POST', `${url}/invites`, '{"maxUses":2}'))
  await okText(asBob('POST', `/v1/invites/${open.code}/accept`))
  const body = '{"email":"carol@example.org"}'
  const { invite } = await dataOf<{ invite: Invite }>(ask('POST', `${url}/invites`, body))

  const timeline = await okText(ask('GET', `${url}/events`))
  for (const secret of [invite.code, open.code, 'carol@example.org']) assert.not.match(timeline, secret)
  const { events } = JSON.parse(timeline).data as { events: { revision: number; type: string }[] }
  const { revision } = events.find(({ type }) => type === 'InviteCreated')!
  const { event } = await dataOf<One>(ask('GET', `${url}/events/${revision}`))
  assert.equal([event.data.code, event.data.email], [invite.code, 'carol@example.org'])
  const { invites } = await dataOf<{ invites: Invite[] }>(ask('GET', `${url}/invites`))
  const listed = invites.find(({ code }) => code === invite.code)
  assert.is(listed?.email, event.data.email, 'nothing is shown that the list of invites does not show')
  for (const path of ['invites', 'events', `events/${revision}`, `events/${revision}/proof`])
    assert.is((await asBob('GET', `${url}/${path}`)).status, 403, path)
})

test('no event of a namespace or a trace holds more secrets than an invite does', () => {
  const holding = [...NamespaceEvent.options, ...TraceEvent.options].flatMap(({ shape }) =>
    Object.keys(shape.data.shape)
      .filter((name) => /e-?mail|token|device|login/i.test(name))
      .map((name) => `${shape.type.value}.${name}`),
  )
  assert.equal(holding, ['InviteCreated.email'])
})

test.run()
