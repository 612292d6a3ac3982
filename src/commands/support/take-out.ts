import { mainGroup } from '../../../projections/index.ts'
import { foldSource } from '../../engine/fold.ts'
import type { DomainEvent, StreamKind } from '../../engine/stream.ts'
import { newTransactor } from '../../engine/transact.ts'
import { type Namespace, namespaces, presentNamespace } from '../../namespace/decide.ts'
import { takeOutMember } from '../../namespace/decide-members.ts'
import { users, withdrawIdentity } from '../../user/decide.ts'
import { haveCaughtUp } from './read-models.ts'
import type { OpenedLog } from './with-log.ts'
import { type Seat, type UserOfService, readUsers } from './service-lists.ts'

/** A namespace whose last admin the user is, so that they formally stay; `others` is the number of other members. */
export type LastSeat = Seat & { readonly others: number }

export type TakenOut = {
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
export const readPresentUsers = async (opened: OpenedLog): Promise<readonly UserOfService[]> => {
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
export const takeOut = async (opened: OpenedLog, user: UserOfService): Promise<TakenOut> => {
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
