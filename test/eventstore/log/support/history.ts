import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { newHashLine } from '../../../../src/base/line-hashes.ts'
import type { CommitAnswers, OneAttributionKey } from '../../../../src/contract/attribution.ts'
import type { InviteView } from '../../../../src/contract/invites.ts'
import type { NewSession } from '../../../../src/contract/sessions.ts'
import { onServer } from '../../../support/database.ts'
import { addDevice } from '../../../support/add-device.ts'
import type { App } from '../../../support/open-app.ts'
import { png } from '../../../support/pictures.ts'
import { until } from '../../../support/until.ts'

/** The token to read with, and the traces that exist. */
export type Told = { readonly token: string; readonly traces: readonly string[] }

const ODD = 'ä€𝄞 \0 \ud83d "quoted" 9007199254740993'
const MiB = 1024 * 1024

/** The settings of the service, by which it reads models and makes summaries soon. */
export const historySettings = (folder: string) => ({
  CATALOGUE_URL: join(folder, 'catalogue.json'),
  SUMMARY_DEBOUNCE_MS: '20',
  SUMMARY_THRESHOLD: '3',
})

export const writeCatalogue = (folder: string, release: string) =>
  writeFile(
    historySettings(folder).CATALOGUE_URL,
    JSON.stringify({
      openai: {
        name: `OpenAI ${release}`,
        env: ['OPENAI_API_KEY'],
        npm: '@ai-sdk/openai',
        doc: 'https://x',
        models: { 'gpt-5': { name: `GPT-5 ${ODD}`, release_date: release } },
      },
    }),
  )

const message = (name: string, parts: number, size = 1) => ({
  externalId: name,
  role: 'assistant',
  parts: Array.from({ length: parts }, (_, i) => ({
    type: 'tool_call',
    content: { callId: `${i}`, toolName: `Tool ${i % 3}`, args: { [ODD]: `${name} ${ODD}`.repeat(size), b: 1, a: i } },
  })),
})

const LINE = 'a line that an agent wrote, long enough to be known again'

/** Records a commit whose only line was written by a call of the trace `changed`. */
const recordCommit = async (good: (...request: Parameters<App['call']>) => Promise<object>, token: string) => {
  const at = Date.now()
  const call = { callId: 'write', toolName: 'Write', args: { file_path: '/app/a.ts', content: `${LINE}\n` } }
  const parts = [{ type: 'tool_call', content: call }]
  const messages = [{ externalId: 'write', role: 'assistant', timestamp: at - 60_000, parts }]
  await good('POST', '/v1/traces/changed/messages/batch', { token, body: { messages } })
  const { key } = (await good('GET', '/v1/namespaces/team/attribution-key', { token })) as OneAttributionKey
  const added = [newHashLine(Buffer.from(key.secret, 'base64'))(LINE)]
  const body = {
    key: key.id,
    repository: 'https://codehost.example/team/app',
    commits: [{ sha: 'a'.repeat(40), at, hunks: [{ path: 'a.ts', added }] }],
  }
  await until(async () => {
    const { commits } = (await good('POST', '/v1/namespaces/team/commits', { token, body })) as CommitAnswers
    return commits[0]!.traces.length === 1
  })
}

/** Records all types of events through the routes. Returns the remaining traces, and a token that may read them. */
export const writeHistory = async (app: App, databaseUrl: string): Promise<Told> => {
  const good = async (...request: Parameters<App['call']>) => {
    const { status, data, error } = await app.call(...request)
    assert.is(status, 200, `${request[0]} ${request[1]}: ${JSON.stringify(error)}`)
    return data as object
  }
  const start = async (deviceId: string) =>
    ((await good('POST', '/v1/session', { body: { deviceId, deviceName: ODD } })) as { session: NewSession }).session
  const [ada, bob, eve] = [await start('ada'), await start('bob'), await start('eve')]
  const by = { token: ada.token }

  const second = await addDevice(app, bob.userId, 'of bob')
  await good('DELETE', `/v1/user/identities/${second}`, { token: bob.token })
  await start('of bob')

  await good('PATCH', '/v1/user', { ...by, body: { displayName: `Ada ${ODD}` } })
  const body = { slug: 'team', displayName: `Team ${ODD}` }
  await good('POST', '/v1/namespaces', { ...by, body })
  await good('PATCH', '/v1/namespaces/team', { ...by, body: { description: ODD } })
  const picture = { authorization: `Bearer ${ada.token}`, 'content-type': 'image/png' }
  const put = { method: 'PUT', url: '/v1/namespaces/team/avatar', headers: picture, payload: png } as const
  assert.is((await app.app.inject(put)).statusCode, 200)
  const invite = async (terms: object) =>
    ((await good('POST', '/v1/namespaces/team/invites', { ...by, body: terms })) as { invite: InviteView }).invite
  const { code } = await invite({ maxUses: 2, role: 'admin' })
  for (const { token } of [bob, eve]) await good('POST', `/v1/invites/${code}/accept`, { token })
  await good('DELETE', `/v1/namespaces/team/invites/${(await invite({ email: 'x@example.org' })).code}`, by)
  await invite({})
  await good('PATCH', `/v1/namespaces/team/members/${bob.userId}`, { ...by, body: { role: 'member' } })
  await good('DELETE', `/v1/namespaces/team/members/${eve.userId}`, by)
  await good('DELETE', '/v1/session', { token: eve.token })
  await good('POST', '/v1/session/switch', { ...by, body: { slug: 'team' } })
  await good('POST', '/v1/session/switch', { token: bob.token, body: { slug: 'team' } })

  const batch = (trace: string, messages: object[]) =>
    good('POST', `/v1/traces/${trace}/messages/batch`, { ...by, body: { messages } })
  const kept = ['changed', 'large', 'back', 'of-bob', 'moved']
  for (const trace of ['changed', 'large', 'back', 'gone', 'moved'])
    await good('PUT', `/v1/traces/${trace}`, { ...by, body: { title: ODD, visibility: 'public', model: 'gpt-5' } })
  await good('PUT', '/v1/traces/of-bob', { token: bob.token, body: { title: 'of Bob' } })
  await good('PATCH', '/v1/traces/changed', { ...by, body: { title: `${ODD} anew`, gitBranch: 'main' } })
  const usage = (i: number) => ({ inputTokens: 1_000 + i, outputTokens: 10, responseId: `answer ${i}` })
  const messages = Array.from({ length: 30 }, (_, i) => ({ ...message(`m${i}`, i % 5), usage: usage(i) }))
  for (const trace of ['changed', 'back', 'gone']) await batch(trace, messages)
  await batch('changed', [message('m3', 1), message('m4', 6), { ...message('m5', 0), role: 'user', textContent: ODD }])
  await good('PUT', '/v1/traces/changed/messages/m6', { ...by, body: { role: 'user', order: 7, textContent: ODD } })
  const failed = { callId: 'failed', toolName: 'Bash' }
  await batch('changed', [
    { externalId: 'failed', role: 'assistant', parts: [{ type: 'tool_call', content: { ...failed, args: {} } }] },
    {
      externalId: 'why',
      role: 'user',
      parts: [{ type: 'tool_result', content: { ...failed, output: ODD, status: 'error' } }],
    },
  ])
  await recordCommit(good, ada.token)
  await batch('moved', messages.slice(0, 4))
  await good('POST', '/v1/traces/moved/move', { ...by, body: { namespace: ada.namespaceSlug! } })
  // An append of many events, and one of a single event, both larger than an append of EventStoreDB may be.
  await batch(
    'large',
    Array.from({ length: 100 }, (_, i) => message(`m${i}`, 3, 150)),
  )
  await batch('large', [{ externalId: 'huge', role: 'user', textContent: `${ODD}é`.repeat((3 * MiB) / 40) }])
  for (const trace of ['gone', 'back']) await good('DELETE', `/v1/traces/${trace}`, by)
  await good('PUT', '/v1/traces/back', { ...by, body: { title: 'back' } })
  await batch('back', messages.slice(0, 4))

  const erasures = () => onServer(databaseUrl, 'select from tracebook.erasures')
  await until(async () => (await erasures()).rows.length === 0)
  await until(async () => {
    const found = await Promise.all(
      ['changed', 'large', 'back', 'moved'].map((trace) => good('GET', `/v1/traces/${trace}`, by)),
    )
    return found.every((each) => 'ai_summary' in (each as { trace: object }).trace)
  })
  return { ...by, traces: kept }
}
