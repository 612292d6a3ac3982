import { mainGroup } from '../../projections/index.ts'
import { requireAgreement } from '../cli/ask.ts'
import { escapeControls } from '../base/escape.ts'
import { exitCodes, UsageError } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { printTable } from '../cli/table.ts'
import { shortTime } from '../cli/time-text.ts'
import { foldSource } from '../eventstore/engine/fold.ts'
import type { DomainEvent, StreamKind } from '../eventstore/engine/stream.ts'
import { newTransactor } from '../eventstore/engine/transact.ts'
import { takeOutMember } from '../server/namespace/decide-members.ts'
import { type Namespace, namespaces, presentNamespace } from '../server/namespace/decide.ts'
import { users, withdrawIdentity } from '../server/user/decide.ts'
import { haveCaughtUp } from './support/read-models.ts'
import { readUsers, type Seat, type SignIn, type UserOfService } from './support/service-lists.ts'
import { type OpenedLog, withLog } from './support/with-log.ts'

/** A namespace whose last admin the user is, so that they formally stay; `others` is the number of other members. */
type LastSeat = Seat & { readonly others: number }

type TakenOut = {
  /** The number of removed identities. */
  readonly identities: number
  readonly left: readonly Seat[]
  readonly stays: readonly LastSeat[]
  /** Whether the read models show it; if not, no projector is running. */
  readonly isVisible: boolean
}

const newTransactorOf = <State, Event extends DomainEvent>({ log, codec }: OpenedLog, kind: StreamKind<State, Event>) =>
  newTransactor({ kind, source: foldSource(kind, log, codec), log, codec, now: Date.now })

const hasReachedHead = async ({ url, log }: OpenedLog): Promise<boolean> =>
  haveCaughtUp(url, [mainGroup], await log.head())

/** All users at the end of the log. @throws Error while no projector runs */
const readPresentUsers = async (opened: OpenedLog): Promise<readonly UserOfService[]> => {
  if (!(await hasReachedHead(opened)))
    throw new Error('The read models are behind the log. Start a service with the role projector, and run it again.')
  return readUsers(opened.url)
}

const membersIn = (state: Namespace): ReadonlySet<string> => new Set(presentNamespace(state).members.keys())

/** Removes the known identities and memberships of a user. Returns the namespaces in which they stay. */
const takeAway = async (
  opened: OpenedLog,
  { id, identities, namespaces: seats }: UserOfService,
): Promise<LastSeat[]> => {
  const [ofUsers, ofNamespaces] = [newTransactorOf(opened, users), newTransactorOf(opened, namespaces)]
  for (const identity of identities)
    await ofUsers.transact(id, { decide: withdrawIdentity(identity.id), answer: () => {} }, {})
  const stays: LastSeat[] = []
  for (const seat of seats) {
    const { answer } = await ofNamespaces.transact(seat.id, { decide: takeOutMember(id), answer: membersIn }, {})
    if (answer.has(id)) stays.push({ ...seat, others: answer.size - 1 })
  }
  return stays
}

/**
 * Removes all identities of a user, which ends all sessions, and their memberships, with events without an actor. Repeats until
 * none is left, because a session that lasts for a moment on another node could join a namespace meanwhile.
 */
const takeOut = async (opened: OpenedLog, user: UserOfService): Promise<TakenOut> => {
  const left = new Map<string, Seat>()
  let identities = 0
  for (let present = user; ;) {
    const stays = await takeAway(opened, present)
    const gone = present.namespaces.filter(({ id }) => stays.every((seat) => seat.id !== id))
    for (const seat of gone) left.set(seat.id, seat)
    identities += present.identities.length
    const isVisible = await hasReachedHead(opened)
    const isDone = present.identities.length === 0 && gone.length === 0
    if (isDone || !isVisible) return { identities, left: [...left.values()], stays, isVisible }
    present = (await readUsers(opened.url)).find(({ id }) => id === user.id)!
  }
}

type ListOptions = { readonly json?: boolean }

type RemoveOptions = ListOptions & { readonly yes?: boolean }

const MIN_PREFIX = 4

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`

const accountOf = ({ login = '?', email }: SignIn): string => (email === undefined ? login : `${login} <${email}>`)

/** How a user signs in: accounts by name, and the number of devices. */
const signInsOf = ({ identities }: UserOfService): string => {
  const devices = identities.filter(({ type }) => type === 'device').length
  const words = [
    ...identities.filter(({ type }) => type === 'codehost').map(accountOf),
    ...(devices === 0 ? [] : [counted(devices, 'device')]),
  ]
  return words.length === 0 ? 'nothing' : words.join(', ')
}

const slugsOf = (seats: readonly Seat[]): string => seats.map(({ slug }) => slug).join(', ')

const toDocument = ({ id, displayName, ...rest }: UserOfService) => ({
  type: 'user',
  user: { id, ...(displayName === undefined ? {} : { displayName }) },
  ...rest,
})

export const list = ({ json = false }: ListOptions): Promise<number> =>
  withLog(async ({ url }) => {
    const users = await readUsers(url)
    if (json) for (const user of users) await printDocument(toDocument(user))
    else {
      const columns = [
        { head: 'name', cell: ({ displayName }: UserOfService) => displayName ?? '-', min: 8 },
        { head: 'signs in by', cell: signInsOf, min: 12 },
        { head: 'namespaces', cell: ({ namespaces }: UserOfService) => slugsOf(namespaces), min: 12 },
        {
          head: 'last used',
          cell: ({ lastUsedAt }: UserOfService) => (lastUsedAt === undefined ? '-' : shortTime(lastUsedAt)),
          drop: 1,
        },
        { head: 'traces', cell: ({ traces }: UserOfService) => `${traces}`, align: 'right' as const },
        { head: 'bytes', cell: ({ bytes }: UserOfService) => `${bytes}`, align: 'right' as const },
        { head: 'user', cell: ({ id }: UserOfService) => id },
      ]
      await printTable(columns, users)
    }
    return exitCodes.ok
  })

/** The user with a prefix of an id. @throws UsageError for none, and for several */
const userNamed = (users: readonly UserOfService[], name: string): UserOfService => {
  const found = name.length < MIN_PREFIX ? [] : users.filter(({ id }) => id.startsWith(name.toLowerCase()))
  if (found.length === 1) return found[0]!
  if (found.length > 1) throw new UsageError(`"${name}" matches ${found.length} users: give more characters of the id.`)
  throw new UsageError(`The service has no user "${name}". To list the users with their ids, run: tracebook users`)
}

const described = (user: UserOfService): string => {
  const name = user.displayName === undefined ? '' : `${escapeControls(user.displayName)}, `
  const place = user.namespaces.length === 0 ? 'in no namespace' : `in ${slugsOf(user.namespaces)}`
  return `${name}user ${user.id}, who signs in by ${escapeControls(signInsOf(user))}, ${escapeControls(place)}`
}

export const remove = ({ yes = false, json = false }: RemoveOptions, name: string): Promise<number> =>
  withLog(async (opened) => {
    const user = userNamed(await readPresentUsers(opened), name)
    await requireAgreement(
      `${described(user)}, will be removed from the service: all their sessions end, and this cannot be undone. ` +
        'Their traces stay.',
      yes,
    )
    const { identities, left, stays, isVisible } = await takeOut(opened, user)
    if (json) await printDocument({ type: 'removed', user: { id: user.id }, identities, left, stays })
    else
      await printLines([
        `Removed the user ${user.id} with ${counted(identities, 'way')} to sign in and ` +
          `${counted(left.length, 'membership')}.`,
      ])
    for (const { slug, others } of stays)
      if (others > 0) say(`The namespace "${slug}" has lost its last admin and has ${counted(others, 'other member')}.`)
    if (!isVisible) say('Lists will show it as soon as a projector runs.')
    return exitCodes.ok
  })
