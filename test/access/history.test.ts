import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Visibility } from '../../src/contract/trace.ts'
import { type Caller, callers, openTeam, standingOf } from './team.ts'

const test = suite('who may see the past')
const { app, team } = await openTeam(test, 'team')
const { call } = app
const creator = team.tokenOf('creator', 'here')
const visibilities = ['private', 'direct', 'public'] as const
for (const visibility of visibilities)
  assert.is((await call('PUT', `/v1/traces/of-${visibility}`, { token: creator, body: { visibility } })).status, 200)

const first = async (id: string) => {
  const { data } = await call('GET', `/v1/traces/${id}/events`, { token: team.tokenOf('admin', 'here') })
  return (data as { events: { revision: number }[] }).events[0]!.revision
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
            const { status, error } = await call('GET', `${url}${inNamespace}`, { token: team.tokenOf(caller, place) })
            assert.is(status, expected(caller, visibility), `${caller}, ${visibility}: ${JSON.stringify(error)}`)
          }
        }
      }
    })
  }

  test(`${what}: what is hidden looks like what is not there`, async () => {
    const token = team.tokenOf('stranger', 'elsewhere')
    const path = pathOf(0)
    const answers = ['of-private', 'never-heard-of'].map((id) =>
      call('GET', `/v1/traces/${id}${path.startsWith('?') ? '' : '/'}${path}`, { token }),
    )
    assert.equal(await answers[0], await answers[1])
    const nobody = await call('GET', `/v1/traces/never-heard-of${path.startsWith('?') ? '' : '/'}${path}`)
    assert.is(nobody.status, 404)
  })
}

test('the past of a namespace is for its admins', async () => {
  const { data } = await call('GET', '/v1/traces/of-private', { token: creator })
  const { id } = (data as { trace: { id: string } }).trace
  await call('DELETE', '/v1/traces/of-private', { token: creator })
  for (const path of ['events', 'events?trace=of-public', 'events/0', `deletions/${id}`]) {
    for (const caller of callers) {
      for (const place of ['here', 'elsewhere'] as const) {
        const url = `/v1/namespaces/${team.slug}/${path}`
        const { status } = await call('GET', url, { token: team.tokenOf(caller, place) })
        const standing = standingOf(caller)
        assert.is(status, standing === 'nobody' ? 401 : standing === 'admin' ? 200 : 403, `${caller}: ${path}`)
      }
    }
  }
  const admin = team.tokenOf('admin', 'here')
  for (const path of [
    'no-such-team/events',
    `${team.slug}/events/999`,
    `${team.slug}/deletions/x`,
    `${team.slug}/deletions/${team.namespaceId}`,
  ])
    assert.is((await call('GET', `/v1/namespaces/${path}`, { token: admin })).status, 404, path)
})

test.run()
