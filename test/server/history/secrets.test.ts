import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { NamespaceEvent } from '../../../src/server/namespace/events.ts'
import { TraceEvent } from '../../../src/server/trace/events.ts'
import { bodyOf, sharedWorld, signIn } from '../../support/world.ts'

const test = suite('history: secrets')

const { node } = await sharedWorld()

type Invite = { code: string; email?: string }
type One = { event: { type: string; data: Invite } }

test('single events are exact, for admins only, who see whole invites in their list anyway; timelines hide secrets', async () => {
  const [ada, bob] = [await signIn(node), await signIn(node)]
  const slug = `team-${randomUUID().slice(0, 8)}`
  const url = `/v1/namespaces/${slug}`
  await ada.send('POST', '/v1/namespaces', { slug, displayName: 'Team' })
  const { invite: open } = await ada.send<{ invite: Invite }>('POST', `${url}/invites`, { maxUses: 2 })
  await bob.send('POST', `/v1/invites/${open.code}/accept`)
  const { invite } = await ada.send<{ invite: Invite }>('POST', `${url}/invites`, { email: 'carol@example.org' })

  const timeline = await bodyOf(ada.get(`${url}/events`))
  for (const secret of [invite.code, open.code, 'carol@example.org']) assert.not.match(timeline, secret)
  const { events } = JSON.parse(timeline).data as { events: { revision: number; type: string }[] }
  const { revision } = events.find(({ type }) => type === 'InviteCreated')!
  const { event } = await ada.send<One>('GET', `${url}/events/${revision}`)
  assert.equal([event.data.code, event.data.email], [invite.code, 'carol@example.org'])
  const { invites } = await ada.send<{ invites: Invite[] }>('GET', `${url}/invites`)
  const listed = invites.find(({ code }) => code === invite.code)
  assert.is(listed?.email, event.data.email, 'nothing is shown that the list of invites does not show')
  for (const path of ['invites', 'events', `events/${revision}`, `events/${revision}/proof`])
    assert.is((await bob.ask('GET', `${url}/${path}`)).status, 403, path)
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
