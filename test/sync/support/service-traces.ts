import { isDeepStrictEqual } from 'node:util'
import {
  type Answer,
  type Asked,
  ok,
  refusal,
  type StoredMessage,
  type StoredTrace,
  type TestSession,
  type World,
} from './service-world.ts'

const roleIn = ({ namespaces }: World, namespaceId: string, userId: string) =>
  namespaces.find(({ id }) => id === namespaceId)?.roles.get(userId)

/** Readings: Addressing a trace by externalId. */
const resolve = (world: World, externalId: string, { userId, namespaceId }: TestSession): StoredTrace | undefined => {
  const rank = (trace: StoredTrace) =>
    trace.namespaceId === namespaceId ? 0 : roleIn(world, trace.namespaceId, userId) ? 1 : 2
  return world.traces.filter((trace) => trace.externalId === externalId).sort((a, b) => rank(a) - rank(b))[0]
}

/** Interface: the write policy. */
const refused = (world: World, trace: StoredTrace, { userId }: TestSession): Answer | undefined => {
  const role = roleIn(world, trace.namespaceId, userId)
  if (!role) return refusal(404)
  return role === 'admin' || trace.createdBy === userId ? undefined : refusal(403)
}

const detail = ({ fields, externalId, namespaceId, messages }: StoredTrace): Answer =>
  ok({ trace: { ...fields, externalId, namespace: { id: namespaceId }, messageCount: messages.size } })

const put = (world: World, externalId: string, fields: Record<string, string>, session: TestSession): Answer => {
  const hit = resolve(world, externalId, session)
  const no = hit && refused(world, hit, session)
  if (no) return no
  const { namespaceId, userId } = session
  if (hit?.namespaceId === namespaceId) hit.fields = { ...hit.fields, visibility: 'private', ...fields }
  else {
    const all = { visibility: 'private', ...fields }
    world.traces.push({ namespaceId, externalId, createdBy: userId, fields: all, messages: new Map() })
  }
  return detail(resolve(world, externalId, session)!)
}

const upsert = (world: World, trace: StoredTrace, messages: readonly StoredMessage[]): Answer => {
  if (messages.length === 0 || messages.length > 200 || messages.some((one) => world.refuses(one))) return refusal(400)
  const counts = { created: 0, updated: 0, unchanged: 0 }
  for (const message of messages) {
    const old = trace.messages.get(message.externalId)
    counts[!old ? 'created' : isDeepStrictEqual(old, message) ? 'unchanged' : 'updated']++
    trace.messages.set(message.externalId, message)
  }
  return ok({ ...counts, messages: [], messageCount: trace.messages.size })
}

/** A page of messages; a cursor is the place in the list. */
const list = ({ messages }: StoredTrace, query: URLSearchParams): Answer => {
  const from = Number(query.get('cursor') ?? 0)
  const next = from + Number(query.get('limit'))
  const page = [...messages.values()].slice(from, next)
  const withParts = query.get('includeParts') === 'true'
  return ok({
    messages: withParts ? page : page.map(({ parts: _, ...message }) => message),
    ...(next < messages.size ? { nextCursor: String(next) } : {}),
  })
}

/** Answers a request on `/v1/traces/{externalId}` or below: GET, PUT and PATCH of the trace, its messages, the batch, and its past. */
export const onTrace = (world: World, { method, path, text }: Asked, session: TestSession): Answer => {
  const { pathname, searchParams: query } = new URL(path, 'http://service')
  const [, , , key = '', ...below] = pathname.split('/')
  const [externalId, rest] = [decodeURIComponent(key), below.join('/')]
  const trace = resolve(world, externalId, session)
  if (method === 'PUT') return put(world, externalId, JSON.parse(text), session)
  if (!trace) return refusal(404)
  const readable = trace.fields['visibility'] === 'public' || roleIn(world, trace.namespaceId, session.userId)
  if (method === 'GET' && !readable) return refusal(404)
  if (method === 'GET') return rest === 'messages' ? list(trace, query) : detail(trace)
  const no = refused(world, trace, session)
  if (no) return no
  if (rest === 'history/erase') return ok({ revision: 1, erased: 1 })
  if (rest === 'messages/batch') return upsert(world, trace, JSON.parse(text).messages)
  trace.fields = { ...trace.fields, ...JSON.parse(text) }
  return detail(trace)
}
