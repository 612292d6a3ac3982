import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Visibility } from '../../src/contract/trace.ts'
import { callerOf } from '../support/world.ts'
import { type Caller, callers, openTeam, standingOf } from './team.ts'

const test = suite('who may see the past')
const { app, team } = await openTeam(test, 'team')
const { creator, admin } = team
const visibilities = ['private', 'direct', 'public'] as const
for (const visibility of visibilities) await creator.send('PUT', `/v1/traces/of-${visibility}`, { visibility })

const first = async (id: string) => {
  const { events } = await admin.send<{ events: { revision: number }[] }>('GET', `/v1/traces/${id}/events`)
  return events[0]!.revision
}

const ofTrace = {
  'its timeline': () => 'events',
  'one event': (revision: number) => `events/${revision}`,
  'the trace as it was': (revision: number) => `?revision=${revision}`,
  'the trace of a time': () => `?at=${Date.now()}`,
  'the messages as they were': (revision: number) => `messages?revision=${revision}`,
  'the messages of a time': () => `messages?includeParts=true&at=${Date.now()}`,
  'what has changed': (revision: number) => `diff?from=${revision}`,
} as const

const expected = (caller: Caller, visibility: Visibility): number => {
  const standing = standingOf(caller)
  if (standing === 'nobody') return 401
  if (standing !== 'stranger') return 200
  return visibility === 'public' ? 403 : 404
}

for (const [what, pathOf] of Object.entries(ofTrace)) {
  for (const place of ['here', 'elsewhere'] as const) {
    test(`${what} is for members only, whoever may read the trace; asked ${place}`, async () => {
      for (const caller of callers) {
        for (const visibility of visibilities) {
          const id = `${caller === 'former' ? 'former' : 'of'}-${visibility}`
          const path = pathOf(await first(id))
          for (const named of [false, true]) {
            const url = `/v1/traces/${id}${path.startsWith('?') ? '' : '/'}${path}`
            const inNamespace = named ? `${url.includes('?') ? '&' : '?'}namespace=${team.slug}` : ''
            const { status, error } = await team.as(caller, place).ask('GET', `${url}${inNamespace}`)
            assert.is(status, expected(caller, visibility), `${caller}, ${visibility}: ${JSON.stringify(error)}`)
          }
        }
      }
    })
  }

  test(`${what}: what is hidden looks like what is not there`, async () => {
    const stranger = team.as('stranger', 'elsewhere')
    const path = pathOf(0)
    const answers = ['of-private', 'never-heard-of'].map((id) =>
      stranger.ask('GET', `/v1/traces/${id}${path.startsWith('?') ? '' : '/'}${path}`),
    )
    assert.equal(await answers[0], await answers[1])
    const nobody = await callerOf(app).ask('GET', `/v1/traces/never-heard-of${path.startsWith('?') ? '' : '/'}${path}`)
    assert.is(nobody.status, 404)
  })
}

test('the past of a namespace is for its admins', async () => {
  const { trace } = await creator.send<{ trace: { id: string } }>('GET', '/v1/traces/of-private')
  await creator.send('DELETE', '/v1/traces/of-private')
  for (const path of ['events', 'events?trace=of-public', 'events/0', `deletions/${trace.id}`]) {
    for (const caller of callers) {
      for (const place of ['here', 'elsewhere'] as const) {
        const url = `/v1/namespaces/${team.slug}/${path}`
        const { status } = await team.as(caller, place).ask('GET', url)
        const standing = standingOf(caller)
        assert.is(status, standing === 'nobody' ? 401 : standing === 'admin' ? 200 : 403, `${caller}: ${path}`)
      }
    }
  }
  for (const path of [
    'no-such-team/events',
    `${team.slug}/events/999`,
    `${team.slug}/deletions/x`,
    `${team.slug}/deletions/${team.namespaceId}`,
  ])
    assert.is((await admin.ask('GET', `/v1/namespaces/${path}`)).status, 404, path)
})

test.run()
