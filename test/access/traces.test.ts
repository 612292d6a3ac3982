import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Rejected } from '../../src/eventstore/engine/rejected.ts'
import { assertMayRead, assertMayWrite } from '../../src/server/trace/policy.ts'
import type { Visibility } from '../../src/contract/trace.ts'
import type { Call } from '../support/open-app.ts'
import { type Caller, type Place, callers, openTeam, standingOf } from './team.ts'

const test = suite('who may do what to a trace')
const visibilities = ['private', 'direct', 'public'] as const
const message = { role: 'user', parts: [{ type: 'text', content: { text: 'hi' } }] }

const verbs = {
  'read it': (id: string) => ['GET', `/v1/traces/${id}`, undefined],
  'read its messages': (id: string) => ['GET', `/v1/traces/${id}/messages`, undefined],
  'read its export': (id: string) => ['GET', `/v1/traces/${id}/export?format=json`, undefined],
  'read its children': (id: string) => ['GET', `/v1/traces/${id}/children`, undefined],
  'read where a text occurs in it': (id: string) => ['GET', `/v1/traces/${id}/messages/matches?q=hi`, undefined],
  'post it': (id: string) => ['POST', '/v1/traces', { externalId: id, title: 'changed' }],
  'put it': (id: string) => ['PUT', `/v1/traces/${id}`, { title: 'changed' }],
  'patch it': (id: string) => ['PATCH', `/v1/traces/${id}`, { title: 'changed' }],
  'put a message': (id: string) => ['PUT', `/v1/traces/${id}/messages/m`, message],
  'put a batch': (id: string) => [
    'POST',
    `/v1/traces/${id}/messages/batch`,
    { messages: [{ externalId: 'm', ...message }] },
  ],
  'delete it': (id: string) => ['DELETE', `/v1/traces/${id}`, undefined],
} as const satisfies Record<string, (id: string) => readonly [Parameters<Call>[0], string, unknown]>
type Verb = keyof typeof verbs
const isRead = (verb: Verb) => verb.startsWith('read')

/** The two tables of the interface (Read and write policies), as statuses. */
const expected = (verb: Verb, caller: Caller, visibility: Visibility): number => {
  const standing = standingOf(caller)
  if (isRead(verb) && visibility === 'public') return 200
  if (standing === 'nobody') return 401
  if (standing === 'stranger') return 404
  return isRead(verb) || standing !== 'member' ? 200 : 403
}

const statuses: Record<string, number> = { unauthorized: 401, not_found: 404, forbidden: 403 }

for (const caller of callers) {
  for (const visibility of visibilities) {
    test(`the policies of a ${visibility} trace and ${caller}`, () => {
      const standing = standingOf(caller)
      const role = standing === 'admin' ? 'admin' : standing === 'stranger' ? undefined : 'member'
      const who = standing === 'nobody' ? undefined : { userId: caller, role: role as 'admin' | 'member' | undefined }
      const outcome = (work: () => void) => {
        try {
          work()
          return 200
        } catch (error) {
          return statuses[(error as Rejected).code]
        }
      }
      const trace = { visibility, createdBy: 'creator' }
      assert.is(outcome(() => assertMayRead(trace, who)), expected('read it', caller, visibility)) // prettier-ignore
      if (who) assert.is(outcome(() => assertMayWrite(trace, who)), expected('patch it', caller, visibility)) // prettier-ignore
    })
  }
}

const { app, team } = await openTeam(test, 'team')
const { creator, admin } = team
let count = 0
const newTrace = async (visibility: Visibility) =>
  (await creator.newTrace({ visibility, title: 'before' }, [], `trace-${count++}`)).externalId
const seen = async (id: string) => (await admin.ask('GET', `/v1/traces/${id}`)).data

const attempt = (verb: Verb, id: string, caller: Caller, place: Place, inNamespace = '') => {
  const [method, url, body] = verbs[verb](id)
  const named = inNamespace && `${url.includes('?') ? '&' : '?'}namespace=${inNamespace}`
  return team.as(caller, place).ask(method, `${url}${named}`, body)
}

for (const caller of callers) {
  for (const place of ['here', 'elsewhere'] as const) {
    for (const verb of Object.keys(verbs) as Verb[]) {
      test(`over HTTP ${caller}, ${place}, may ${verb}, or not, by its visibility`, async () => {
        for (const visibility of visibilities) {
          const id = caller === 'former' ? `former-${visibility}` : await newTrace(visibility)
          const before = await seen(id)
          const { status, error } = await attempt(verb, id, caller, place)
          assert.is(status, expected(verb, caller, visibility), `${visibility}: ${JSON.stringify(error)}`)
          if (status !== 200) assert.equal(await seen(id), before, `${visibility}: nothing has changed`)
        }
      })

      test(`and with the namespace named: ${caller}, ${place}, ${verb}`, async () => {
        for (const visibility of visibilities) {
          const id = caller === 'former' ? `former-${visibility}` : await newTrace(visibility)
          const { status, error } = await attempt(verb, id, caller, place, team.slug)
          assert.is(status, expected(verb, caller, visibility), `${visibility}: ${JSON.stringify(error)}`)
        }
      })
    }
  }
}

test('children and sorted lists show everybody the traces that they may read, and count no others', async () => {
  const parent = await newTrace('public')
  const children = new Map<Visibility, string>()
  for (const visibility of visibilities) {
    const id = await newTrace(visibility)
    await creator.send('PATCH', `/v1/traces/${id}`, { parentExternalId: parent })
    children.set(visibility, id)
  }
  type Page = { traces: { externalId: string; visibility: Visibility }[]; nextCursor?: string }
  const paths = [
    `traces/${parent}/children?`,
    ...['createdAt', 'startedAt', 'updatedAt'].map((sort) => `namespaces/${team.slug}/traces?sort=${sort}&`),
  ]
  for (const caller of callers) {
    const mayReadAll = !['nobody', 'stranger'].includes(standingOf(caller))
    for (const place of ['here', 'elsewhere'] as const) {
      for (const path of paths) {
        const { send } = team.as(caller, place)
        const what = `${caller}, ${place}: ${path}`
        const { traces } = await send<Page>('GET', `/v1/${path}limit=1000`)
        const shown = traces.map(({ externalId }) => externalId)
        for (const [visibility, id] of children)
          assert.is(shown.includes(id), mayReadAll || visibility === 'public', `${what}: ${visibility}`)
        assert.ok(mayReadAll || traces.every(({ visibility }) => visibility === 'public'), what)
        // No page, and no cursor, for what is hidden.
        const page = await send<Page>('GET', `/v1/${path}limit=${shown.length}`)
        assert.equal([page.traces.length, page.nextCursor], [shown.length, undefined], what)
      }
    }
  }
})

test('what is hidden looks like what is not there, and costs as much to find out', async () => {
  const { reads, traces } = app.service
  const asked: string[] = []
  const { rows } = reads
  const { transact } = traces
  const spying = app.service as { reads: typeof reads; traces: typeof traces }
  Object.assign(spying.reads, {
    rows: (name: string, ...rest: [string, unknown[]]) => (asked.push(name), rows(name, ...rest)),
  })
  Object.assign(spying.traces, {
    transact: (...all: Parameters<typeof transact>) => (asked.push('load'), transact(...all)),
  })
  const id = await newTrace('private')
  for (const verb of Object.keys(verbs) as Verb[]) {
    // A PUT or POST of an unknown id makes a trace: there is nothing to be told apart.
    if (verb === 'put it' || verb === 'post it') continue
    const [hidden, unknown] = [id, 'never-heard-of'].map((one) => async () => {
      asked.length = 0
      const { status, error, data } = await attempt(verb, one, 'stranger', 'elsewhere')
      return { status, error, data, asked: asked.filter((name) => name !== 'caller') }
    })
    assert.equal(await hidden!(), await unknown!(), verb)
  }
})

test.run()
