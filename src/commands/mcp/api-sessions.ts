import { errorMessage } from '../../cli/exit.ts'
import type { SessionName, Sessions, StoredMessage } from '../../mcp/sessions.ts'
import { RequestFailed, hasStatus } from '../../sync/api/errors.ts'
import type { Access } from '../support/access.ts'
import { keepLogin } from './login.ts'

const ALL_AT_ONCE = 200

const stored = (message: { readonly createdAt: number }): StoredMessage => ({
  json: JSON.stringify(message), // its numbers are as the service has sent them
  createdAt: Number(message.createdAt),
})

/** What the login of this machine may read, by the HTTP API of its service. */
export const apiSessions = (access: Access): Sessions => {
  const { login, forget, now } = keepLogin(access)

  const list: Sessions['list'] = async ({ namespace, limit, cursor }) => {
    const { call, slug: own, nameOf } = await login()
    const slug = namespace ?? own
    const query = { limit, cursor, sort: 'startedAt' as const }
    const { traces, nextCursor } = await call('GET /v1/namespaces/{slug}/traces', { path: { slug }, query })
    const sessions = await Promise.all(
      traces.map(async (trace) => ({ trace, slug, author: await nameOf(slug, trace.createdBy) })),
    )
    return { sessions, nextCursor }
  }

  const get: Sessions['get'] = async ({ externalId, namespace }) => {
    const { call, nameOf } = await login()
    const { trace } = await call('GET /v1/traces/{externalId}', { path: { externalId }, query: { namespace } })
    const { slug } = trace.namespace
    return { trace, slug, author: await nameOf(slug, trace.createdBy) }
  }

  const messages: Sessions['messages'] = async ({ externalId, namespace }, page) => {
    const { exactly } = await login()
    const query = { namespace, includeParts: true, ...page }
    const found = await exactly('GET /v1/traces/{externalId}/messages', { path: { externalId }, query })
    return { messages: found.messages.map(stored), nextCursor: found.nextCursor }
  }

  async function* allMessages(name: SessionName): AsyncGenerator<StoredMessage, void> {
    let cursor: string | undefined
    do {
      const page = await messages(name, { limit: ALL_AT_ONCE, cursor })
      yield* page.messages
      cursor = page.nextCursor
    } while (cursor !== undefined)
  }

  const explain = (error: unknown): string => {
    if (hasStatus(error, 401)) forget()
    if (hasStatus(error, 404)) return 'There is no such session, message or namespace, or you may not read it.'
    return error instanceof RequestFailed ? `The service has refused: ${error.message}` : errorMessage(error)
  }

  const search: Sessions['search'] = async (query) => (await login()).call('GET /v1/search', { query })

  return { list, get, messages, allMessages, search, turn: () => undefined, origin: access.server, now, explain }
}
