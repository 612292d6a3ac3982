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
const resolve = (
  world: World,
  externalId: string,
  { userId, namespaceId }: TestSession,
  slug: string | null = null,
): StoredTrace | undefined => {
  const rank = (trace: StoredTrace) =>
    trace.namespaceId === namespaceId ? 0 : roleIn(world, trace.namespaceId, userId) ? 1 : 2
  const meant = ({ namespaceId: id, externalId: key }: StoredTrace) =>
    key === externalId && (slug === null || world.namespaces.find((one) => one.id === id)?.slug === slug)
  return world.traces.filter(meant).sort((a, b) => rank(a) - rank(b))[0]
}

/** Interface: the write policy. */
const refused = (world: World, trace: StoredTrace, { userId }: TestSession): Answer | undefined => {
  const role = roleIn(world, trace.namespaceId, userId)
  if (!role) return refusal(404)
  return role === 'admin' || trace.createdBy === userId ? undefined : refusal(403)
}

const detail = ({ fields, externalId, namespaceId, messages, revision = 0 }: StoredTrace): Answer =>
  ok({ trace: { ...fields, externalId, namespace: { id: namespaceId }, messageCount: messages.size }, revision })

/** The trace has another revision than the one that the client expects. */
const isChanged = ({ revision = 0 }: StoredTrace, expected: number | undefined): boolean =>
  expected !== undefined && expected !== revision

const setFields = (trace: StoredTrace, fields: Record<string, string>, expected: number | undefined): Answer => {
  const next = { ...trace.fields, ...fields }
  if (!isDeepStrictEqual(next, trace.fields)) {
    if (isChanged(trace, expected)) return refusal(409)
    trace.revision = (trace.revision ?? 0) + 1
  }
  trace.fields = next
  return detail(trace)
}

type Expected = {
  readonly expected: number | undefined
  readonly namespace: string | undefined
  readonly unlessDeleted: boolean
}

const put = (
  world: World,
  externalId: string,
  fields: Record<string, string>,
  session: TestSession,
  { expected, namespace, unlessDeleted }: Expected,
): Answer => {
  const { userId } = session
  const named = world.namespaces.find(({ slug }) => slug === namespace)
  if (namespace !== undefined && !named?.roles.has(userId)) return refusal(404)
  const namespaceId = named?.id ?? session.namespaceId
  const hit = resolve(world, externalId, session, namespace)
  const no = hit && refused(world, hit, session)
  if (no) return no
  if (unlessDeleted && world.deleted.has(externalId)) return refusal(410)
  if (hit?.namespaceId === namespaceId) return setFields(hit, { visibility: 'private', ...fields }, expected)
  const all = { visibility: 'private', ...fields }
  const made = { namespaceId, externalId, createdBy: userId, fields: all, messages: new Map(), changedAt: new Map() }
  world.traces.push(made)
  return detail(made)
}

const upsert = (
  world: World,
  trace: StoredTrace,
  messages: readonly StoredMessage[],
  expected: number | undefined,
): Answer => {
  if (messages.length === 0 || messages.length > 200 || messages.some((one) => world.refuses(one))) return refusal(400)
  const counts = { created: 0, updated: 0, unchanged: 0 }
  const changed = messages.filter((message) => {
    const old = trace.messages.get(message.externalId)
    const isSame = isDeepStrictEqual(old, old && { ...old, ...message })
    counts[!old ? 'created' : isSame ? 'unchanged' : 'updated']++
    return !old || !isSame
  })
  if (changed.length > 0 && isChanged(trace, expected)) return refusal(409)
  if (changed.length > 0) trace.revision = (trace.revision ?? 0) + 1
  for (const message of changed) {
    const { externalId } = message
    trace.messages.set(externalId, { ...trace.messages.get(externalId), ...message })
    trace.changedAt?.set(externalId, trace.revision!)
  }
  return ok({ ...counts, messages: [], messageCount: trace.messages.size, revision: trace.revision ?? 0 })
}

/** A page of messages; a cursor is the place in the list. */
const list = ({ messages, changedAt, revision = 0 }: StoredTrace, query: URLSearchParams): Answer => {
  const [since, around] = [query.get('changedSince'), query.get('around')]
  if (around !== null && !messages.has(around)) return refusal(404)
  const all = [...messages.values()].filter(
    ({ externalId }) =>
      (around === null || externalId === around) &&
      (since === null || (changedAt?.get(externalId) ?? 0) > Number(since)),
  )
  const from = Number(query.get('cursor') ?? 0)
  const next = from + Number(query.get('limit'))
  const page = all.slice(from, next)
  const withParts = query.get('includeParts') === 'true'
  return ok({
    messages: withParts ? page : page.map(({ parts: _, ...message }) => message),
    revision,
    ...(next < all.length ? { nextCursor: String(next) } : {}),
  })
}

/** Answers a request on `/v1/traces/{externalId}` or below: GET, PUT and PATCH of the trace, its messages, the batch, and its past. */
export const onTrace = (
  world: World,
  { method, path, namespace, ifRevision, text }: Asked,
  session: TestSession,
): Answer => {
  const { pathname, searchParams: query } = new URL(path, 'http://service')
  const [, , , key = '', ...below] = pathname.split('/')
  const [externalId, rest] = [decodeURIComponent(key), below.join('/')]
  if (method === 'PUT') {
    const unlessDeleted = query.get('unlessDeleted') === 'true'
    return put(world, externalId, JSON.parse(text), session, { expected: ifRevision, namespace, unlessDeleted })
  }
  const trace = resolve(world, externalId, session, namespace ?? query.get('namespace'))
  if (!trace) return refusal(404)
  const readable = trace.fields['visibility'] === 'public' || roleIn(world, trace.namespaceId, session.userId)
  if (method === 'GET' && !readable) return refusal(404)
  if (method === 'GET') return rest === 'messages' ? list(trace, query) : detail(trace)
  const no = refused(world, trace, session)
  if (no) return no
  if (rest === 'history/erase') {
    trace.revision = (trace.revision ?? 0) + trace.messages.size + 1
    for (const id of trace.messages.keys()) trace.changedAt?.set(id, trace.revision)
    return ok({ revision: trace.revision, erased: 1 })
  }
  if (rest === 'messages/batch') return upsert(world, trace, JSON.parse(text).messages, ifRevision)
  return setFields(trace, JSON.parse(text), ifRevision)
}
