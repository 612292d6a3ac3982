import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { NewSession } from '../../../src/contract/sessions.ts'
import type { App } from '../../support/open-app.ts'

type Message = { readonly externalId: string; readonly role: 'user' | 'assistant'; readonly [name: string]: unknown }

/** A session that was uploaded, by whom, and the path of its page. */
export type Seeded = {
  readonly path: string
  readonly id: string
  readonly token: string
  readonly slug: string
  /** Adds messages, or changes those that are there. */
  say(...messages: readonly Message[]): Promise<void>
  change(values: object): Promise<void>
  remove(): Promise<void>
}

export const signUp = async (app: App): Promise<NewSession> => {
  const { data } = await app.call('POST', '/v1/session', { body: { deviceId: randomUUID() } })
  return (data as { session: NewSession }).session
}

const MOST_IN_BATCH = 200

/** Uploads a session with these messages, public unless `values` say otherwise. */
export const seedSession = async (
  app: App,
  messages: readonly Message[],
  values: object = {},
  by?: NewSession,
): Promise<Seeded> => {
  const { token, namespaceSlug: slug = '' } = by ?? (await signUp(app))
  const id = randomUUID()
  const url = `/v1/traces/${id}?namespace=${slug}`
  const send = async (method: 'PUT' | 'PATCH' | 'POST' | 'DELETE', at: string, body?: object) => {
    const { status, error } = await app.call(method, at, { token, body })
    assert.is(status, 200, `${method} ${at}: ${JSON.stringify(error)}`)
  }
  const say: Seeded['say'] = async (...more) => {
    for (let from = 0; from < more.length; from += MOST_IN_BATCH)
      await send('POST', `/v1/traces/${id}/messages/batch?namespace=${slug}`, {
        messages: more.slice(from, from + MOST_IN_BATCH),
      })
  }
  await send('PUT', url, { title: 'Mend the parser', visibility: 'public', ...values })
  await say(...messages)
  const path = `/@${slug}/${id}`
  return { path, id, token, slug, say, change: (body) => send('PATCH', url, body), remove: () => send('DELETE', url) }
}

const START = Date.UTC(2026, 1, 9, 22, 50)
const MINUTE = 60_000

const part = (type: string, content: object) => ({ type, content })
export const text = (words: string) => part('text', { text: words })

export const message = (i: number, role: Message['role'], ...parts: readonly object[]): Message => ({
  externalId: `message ${i}`,
  role,
  order: i,
  timestamp: START + i * MINUTE,
  parts,
})

/** A call with its result. */
export const called = (callId: string, toolName: string, args: object, output: string, status = 'success') => [
  part('tool_call', { callId, toolName, args }),
  part('tool_result', { callId, toolName, output, status }),
]

export const LONG_OUTPUT = Array.from({ length: 300 }, (_, i) => `line ${i + 1} of the output`).join('\n')

const USAGE = { inputTokens: 12_000, cacheReadTokens: 1_200_000, outputTokens: 3_400, costUsd: 0.75 }

/** The messages of one prompt: thinking, code, an edit, a failure, a run of quiet calls, a long output, and what it took. */
const turn = (first: number): Message[] => {
  const n = first / 8 + 1
  const read = (i: number) => called(`r${first}-${i}`, 'Read', { file_path: `/src/file-${i}.ts` }, `content of ${i}`)
  const edit = { file_path: '/src/parser.ts', old_string: 'let x = 1', new_string: 'const x = 1' }
  return [
    message(first, 'user', text(`Please do task ${n}, with care.`)),
    message(
      first + 1,
      'assistant',
      part('thinking', { text: `A thought about ${n}.` }),
      text(`I look at *${n}*:\n\n\`\`\`ts\nconst task = ${n}\n\`\`\``),
    ),
    message(first + 2, 'assistant', ...called(`e${first}`, 'Edit', edit, 'done')),
    message(
      first + 3,
      'assistant',
      ...called(`f${first}`, 'Bash', { command: 'npm test' }, 'Exit code 1\nno such thing', 'error'),
    ),
    message(first + 4, 'assistant', ...read(1), ...read(2)),
    message(first + 5, 'assistant', ...read(3), ...read(4)),
    message(first + 6, 'assistant', ...called(`l${first}`, 'Bash', { command: 'cat log' }, LONG_OUTPUT)),
    { ...message(first + 7, 'assistant', text(`Task ${n} is done.`)), usage: USAGE },
  ]
}

/** A conversation of so many prompts, with eight messages for each. */
export const conversation = (prompts: number): readonly Message[] =>
  Array.from({ length: prompts }, (_, i) => turn(8 * i)).flat()

/** So many small messages, every tenth of them a prompt. */
export const smallMessages = (count: number): readonly Message[] =>
  Array.from({ length: count }, (_, i) =>
    i % 10 === 0
      ? message(i, 'user', text(`Question ${i / 10 + 1}`))
      : message(i, 'assistant', text(`Answer ${i}. ${'So it goes on for a while. '.repeat(i % 7)}`)),
  )
