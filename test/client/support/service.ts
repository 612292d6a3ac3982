import { randomUUID } from 'node:crypto'
import { type Answer, type Asked, ok, refusal, type TestSession, type World } from './service-world.ts'
import { onTrace } from './service-traces.ts'

export type Service = World & {
  readonly addNamespace: (slug: string, roles?: Record<string, 'admin' | 'member'>) => { readonly id: string }
  readonly answer: (asked: Asked) => Answer
}

const addNamespace = (world: World, slug: string, roles: Record<string, 'admin' | 'member'>) => {
  const namespace = { id: randomUUID(), slug, roles: new Map(Object.entries(roles)) }
  world.namespaces.push(namespace)
  return namespace
}

type NewSession = { readonly deviceId: string; readonly namespaceId?: string; readonly displayName?: string }

const newSession = (world: World, { deviceId, namespaceId, displayName }: NewSession): Answer => {
  const userId = world.users.get(deviceId) ?? randomUUID()
  if (!world.users.has(deviceId) && displayName !== undefined) world.names.set(userId, displayName)
  if (!world.users.has(deviceId)) addNamespace(world, `user-${world.users.size + 1}`, { [userId]: 'admin' })
  world.users.set(deviceId, userId)
  const wanted = world.namespaces.find((one) => (namespaceId ? one.id === namespaceId : one.roles.has(userId)))
  if (!wanted) return refusal(404)
  if (!wanted.roles.has(userId)) return refusal(403)
  const token = `tb_${randomUUID()}`
  world.sessions.set(token, { userId, namespaceId: wanted.id })
  return ok({ session: { token, userId, namespaceId: wanted.id, namespaceSlug: wanted.slug } })
}

const currentSession = (
  { namespaces, names, logId, positions }: World,
  { path }: Asked,
  { userId, namespaceId }: TestSession,
): Answer => {
  const namespace = namespaces.find(({ id }) => id === namespaceId)
  const asked = new URL(path, 'http://service').searchParams.get('holds')
  const held = asked === null ? {} : { holds: positions.has(asked) }
  const user = { id: userId, displayName: names.get(userId) }
  return ok({ session: { userId, namespaceId, namespaceSlug: namespace?.slug }, user, logId, ...held })
}

const namespacesOf = ({ namespaces }: World, { userId }: TestSession): Answer => {
  const own = namespaces.filter(({ roles }) => roles.has(userId))
  return ok({
    namespaces: own.map(({ id, slug, roles }) => ({
      id,
      slug,
      displayName: slug,
      type: 'org',
      role: roles.get(userId),
    })),
  })
}

const namespaceBySlug = ({ namespaces }: World, wanted: string, { userId }: TestSession): Answer => {
  const found = namespaces.find(({ slug }) => slug === wanted)
  return found ? ok({ namespace: { id: found.id, slug: found.slug, role: found.roles.get(userId) } }) : refusal(404)
}

/** Readings: the default namespace. A session whose user is no longer a member of its namespace is active in another one. */
const presentSession = ({ namespaces }: World, session: TestSession): TestSession => {
  const own = namespaces.filter(({ roles }) => roles.has(session.userId))
  const active = own.find(({ id }) => id === session.namespaceId) ?? own[0]
  return active ? { ...session, namespaceId: active.id } : session
}

/** Names the write in its answer. */
const withPosition = ({ positions }: World, { method }: Asked, given: Answer): Answer => {
  if (method === 'GET' || given.status !== 200) return given
  const position = randomUUID()
  positions.add(position)
  return { ...given, headers: { ...given.headers, 'x-log-position': position } }
}

const answer = (world: World, asked: Asked): Answer => {
  const [, , collection, key = ''] = asked.path.split(/[/?]/)
  if (asked.method === 'POST' && collection === 'session') return newSession(world, JSON.parse(asked.text))
  if (collection === 'service') return ok({ log: world.log })
  const started = world.sessions.get(asked.token ?? '')
  if (!started) return refusal(401)
  const session = presentSession(world, started)
  if (collection === 'session') return currentSession(world, asked, session)
  if (collection === 'namespaces' && key === '') return namespacesOf(world, session)
  if (collection === 'namespaces') return namespaceBySlug(world, key, session)
  return withPosition(world, asked, onTrace(world, asked, session))
}

/** The rules of the API that a client meets, in memory; users are made by device id. */
export const newService = (): Service => {
  const world: World = {
    traces: [],
    namespaces: [],
    sessions: new Map(),
    users: new Map(),
    names: new Map(),
    logId: randomUUID(),
    log: randomUUID(),
    positions: new Set(),
    deleted: new Set(),
    refuses: () => false,
  }
  return Object.assign(world, {
    addNamespace: (slug: string, roles: Record<string, 'admin' | 'member'> = {}) => addNamespace(world, slug, roles),
    answer: (asked: Asked) => answer(world, asked),
  })
}
