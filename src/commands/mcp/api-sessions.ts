import { newHashLine } from '../../base/line-hashes.ts'
import { errorMessage } from '../../cli/exit.ts'
import type { SessionName, Sessions, StoredMessage } from '../../server/mcp/sessions.ts'
import { hasStatus, RequestFailed } from '../../client/api/errors.ts'
import { pagesOf } from '../../client/api/pages.ts'
import { newRequests, type Requests } from '../../client/api/requests.ts'
import type { Connection } from '../../client/login/connect.ts'
import { type Access, noteLoss, noticedTiming } from '../support/access.ts'

type Names = ReadonlyMap<string, string>

/** The login of this machine while it lasts: requests to its service, and what is known of its namespaces. */
type Login = Pick<Requests, 'call' | 'exactly'> & {
  /** The namespace of the login, or that of --namespace. */
  readonly slug: string
  /** The name of a member of a namespace; the id if there is no name, and for callers who are not members themselves. */
  readonly nameOf: (slug: string, userId: string) => Promise<string>
}

/** More than a page of messages, which has 8 MiB or one large message. */
const MOST_BYTES = 64 << 20

const namesIn = async ({ call }: Requests, slug: string): Promise<Names> => {
  const { members } = await call('GET /v1/namespaces/{slug}/members', { path: { slug } }).catch((error: unknown) => {
    if (hasStatus(error, 403, 404)) return { members: [] }
    throw error
  })
  return new Map(members.map(({ user: { id, displayName = id } }) => [id, displayName]))
}

const newLogin = (requests: Requests, slug: string): Login => {
  const known = new Map<string, Names>()
  const nameOf = async (of: string, userId: string) => {
    const names = known.get(of) ?? (await namesIn(requests, of))
    known.set(of, names)
    return names.get(userId) ?? userId
  }
  return { ...requests, slug, nameOf }
}

/** Keeps a login open for a process that runs for long. */
const keepLogin = (access: Access) => {
  let opened: Promise<Login> | undefined
  let ahead = 0 // of the clock of the service, in milliseconds

  const onAnswer = (headers: Headers) => {
    const time = Date.parse(headers.get('date') ?? '')
    if (!Number.isNaN(time)) ahead = time - Date.now()
  }
  const openAs = ({ token, namespaceSlug }: Connection): Login =>
    newLogin(
      newRequests(access.server, token, { timing: noticedTiming, maxBytes: MOST_BYTES, onAnswer }),
      namespaceSlug,
    )
  const forget = () => {
    opened = undefined
  }

  return {
    /** @throws UsageError, RequestFailed; the next call tries again then */
    login: (): Promise<Login> => {
      opened ??= access.connect({ tellLoss: noteLoss }).then(openAs)
      opened.catch(forget)
      return opened
    },
    /** The login has ended: the next call looks for another one. */
    forget,
    /** The time of the service. */
    now: () => Date.now() + ahead,
  }
}

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
    const query = { limit, cursor, sort: 'startedAt', children: 'false' } as const
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
    for await (const page of pagesOf((cursor) => messages(name, { limit: ALL_AT_ONCE, cursor }))) yield* page.messages
  }

  const explain = (error: unknown): string => {
    if (hasStatus(error, 401)) forget()
    if (hasStatus(error, 404)) return 'There is no such session, message or namespace, or you may not read it.'
    return error instanceof RequestFailed ? `The service has refused: ${error.message}` : errorMessage(error)
  }

  const search: Sessions['search'] = async (query) => (await login()).call('GET /v1/search', { query })

  // The key is read each time: of a namespace with another key the service would refuse the hashes.
  const blame: Sessions['blame'] = async ({ path, lines, from, repository, namespace }) => {
    const { call, slug: own } = await login()
    const slug = namespace ?? own
    const { key } = await call('GET /v1/namespaces/{slug}/attribution-key', { path: { slug } })
    const hashLine = newHashLine(Buffer.from(key.secret, 'base64'))
    const hunks = [{ path, start: from, added: lines.map((line) => hashLine(line) ?? '') }]
    const repositories = repository === undefined ? [] : [repository]
    const body = { key: key.id, hunks, repositories }
    const answer = await call('POST /v1/namespaces/{slug}/attributions', { path: { slug }, body })
    return { ...answer, ...answer.hunks[0]!, slug }
  }

  return { list, get, messages, allMessages, search, blame, turn: () => undefined, origin: access.server, now, explain }
}
