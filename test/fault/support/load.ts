import { type Came, ask } from './asking.ts'
import { type SeenMessage, contentOf } from './contents.ts'
import { type Loop, newLoop } from './loop.ts'
import type { Moments } from './moments.ts'
import { type PrivateTrace, newPrivateTrace } from './private-trace.ts'
import type { Random } from './random.ts'
import type { Service } from './service.ts'
import { newSight } from './sight.ts'
import { type SeenTrace, type SharedTrace, type Upsert, bodyOf } from './shared-trace.ts'

export type Writer = {
  readonly name: string
  readonly token: string
  readonly own: PrivateTrace
  readonly shared: SharedTrace
  readonly loop: Loop
}

const pathOf = (externalId: string) => `/v1/traces/${externalId}`
const MOST_MESSAGES = 60
const FIELDS = ['title', 'gitBranch', 'gitRef', 'projectName', 'projectPath', 'gitRemoteUrl']

type Client = {
  readonly token: string
  readonly service: () => Service
  readonly random: Random
  readonly moments: Moments
}

export type Whole = { readonly trace: SeenTrace; readonly messages: readonly SeenMessage[] }

/** A trace with its messages; undefined if the service cannot answer now, or data were lost meanwhile. */
export const readWhole = async (
  service: Service,
  token: string,
  externalId: string,
): Promise<Whole | 'gone' | undefined> => {
  const losses = service.moments?.losses()
  const messages = await ask(service, 'GET', `${pathOf(externalId)}/messages?includeParts=true`, { token })
  const trace = await ask(service, 'GET', pathOf(externalId), { token })
  if (messages.is !== 'answered' || trace.is !== 'answered') return undefined
  if (service.moments?.losses() !== losses) return undefined
  if (trace.status === 404) return 'gone'
  if (messages.status === 404) return undefined // created in between
  return {
    trace: (trace.data as { trace: SeenTrace }).trace,
    messages: (messages.data as { messages: SeenMessage[] }).messages,
  }
}

type Next = { number: number; version: number; known: readonly string[] }

const newNext = (moments: Moments): Next => {
  const next: Next = { number: 0, version: 0, known: [] }
  let kept = next.known
  moments.join({
    keep: () => {
      kept = next.known
    },
    fallBack: () => {
      next.known = kept
    },
  })
  return next
}

const isStored = ({ is }: Came) => is === 'answered' || is === 'stored'

/** Upserts of new messages and of newer versions of messages that certainly exist; sometimes the same message twice. */
const upsertsOf = (writer: string, next: Next, random: Random): Upsert[] => {
  const names = [...next.known]
  return Array.from({ length: 1 + random.int(5) }, () => {
    const isNew = names.length === 0 || (next.number < MOST_MESSAGES && random.chance(0.5))
    const name = isNew ? `${writer}-${next.number++}` : random.pick(names)
    if (isNew) names.push(name)
    return { name, version: next.version++ }
  })
}

const writesToShared = (name: string, shared: SharedTrace, { token, service, random, moments }: Client) => {
  const [next, sight] = [newNext(moments), newSight(moments)]
  const path = pathOf(shared.externalId)

  const send = async (upserts: readonly Upsert[]): Promise<Came> => {
    shared.sending(upserts)
    const [one] = upserts
    const came = await (upserts.length === 1
      ? ask(service(), 'PUT', `${path}/messages/${one!.name}`, { token, body: contentOf(one!.name, one!.version) })
      : ask(service(), 'POST', `${path}/messages/batch`, { token, body: { messages: upserts.map(bodyOf) } }))
    if (came.is === 'answered' && came.status !== 200) throw new Error(`${came.status} for ${path}`)
    sight.note(came)
    shared.came(upserts, came)
    if (isStored(came)) next.known = [...new Set([...next.known, ...upserts.map(({ name }) => name)])]
    return came
  }

  const lookAtOwn = async () => {
    const whole = await readWhole(service(), token, shared.externalId)
    if (whole === 'gone') throw new Error(`${path} is gone`)
    if (whole) shared.checkOwn(name, whole.messages)
  }

  const messages = async () => {
    const upserts = upsertsOf(name, next, random)
    const came = await send(upserts)
    if (isStored(came)) return sight.isClear() && random.chance(0.3) && (await lookAtOwn())
    return random.chance(0.5) && (await send(upserts)) // as a client does that has heard nothing
  }

  const field = async () => {
    const key = FIELDS[Number(name.slice(1)) % FIELDS.length]!
    const value = `${name} ${next.version++}`
    const came = await ask(service(), 'PATCH', path, { token, body: { [key]: value } })
    if (came.is === 'answered' && came.status !== 200) throw new Error(`${came.status} for ${path}`)
    sight.note(came)
    shared.fieldOf(key).came(came, () => value)
  }
  return { messages, field }
}

const writesToOwn = (own: PrivateTrace, { token, service, random, moments }: Client) => {
  let version = 0
  const sight = newSight(moments)
  const path = pathOf(own.externalId)
  const { possible } = own
  type Step = Parameters<typeof possible.came>[1]

  const look = async () => {
    const whole = await readWhole(service(), token, own.externalId)
    if (whole === 'gone') own.gone()
    else if (whole) own.check(whole.trace.visibility, whole.messages)
  }

  const send = async (method: string, url: string, body: object | undefined, step: Step) => {
    const came = await ask(service(), method, url, { token, body })
    sight.note(came)
    if (came.is === 'answered' && came.status === 404) return sight.isClear() && own.gone()
    if (isStored(came) && (method !== 'PUT' || url !== path)) own.there()
    possible.came(came, step)
    if (isStored(came) && sight.isClear()) await look()
  }

  return async () => {
    const what = random.int(10)
    if (what === 0) return send('DELETE', path, undefined, own.remove)
    if (what < 4) {
      const visibility = random.pick(['public', 'private', 'public', 'direct'])
      return send('PUT', path, { visibility }, own.put(visibility))
    }
    const upsert = { name: `own-${random.int(8)}`, version: version++ }
    return send('PUT', `${path}/messages/${upsert.name}`, contentOf(upsert.name, upsert.version), own.message(upsert))
  }
}

const PAUSE_MS = 15

/** A client that writes one request after the other, to a shared trace and to one of its own. */
export const newWriter = (name: string, shared: SharedTrace, client: Client): Writer => {
  const { random, token, moments } = client
  const own = newPrivateTrace(`own-${name}`, moments)
  const { messages, field } = writesToShared(name, shared, client)
  const toOwn = writesToOwn(own, client)
  const loop = newLoop(
    () => random.pick([messages, messages, messages, field, toOwn, toOwn])(),
    () => random.int(PAUSE_MS),
  )
  return { name, token, own, shared, loop }
}
