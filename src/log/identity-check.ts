import { setTimeout } from 'node:timers/promises'
import type { LogIdentity, Position } from './log.ts'

const AGAIN_MS = 50

/** What an adapter can say of the log that it has just connected to. */
export type Look = {
  /** Undefined while the log has been given none. */
  readonly known: () => Promise<LogIdentity | undefined>
  readonly holds: (position: Position, id: string) => Promise<boolean | undefined>
  readonly renewEpoch: (seen: string) => Promise<LogIdentity>
}

/** Notices that the log behind a new connection is not the one that was read before, or has lost its end. */
export type Watchman = {
  /** Notes an event that was read: it has to be found again after a reconnect. */
  saw(event: { readonly position: Position; readonly id: string } | undefined): void
  /** Notes what the log has said of itself, unless that is known. */
  knows(identity: LogIdentity): void
  /**
   * Compares the log with what is known of it. Calls `changed`, at once and before anything is read from it, when its
   * epoch is another one; where an event is missing that was read before, the log's epoch is renewed first.
   * @throws LogUnavailable, and what looking throws
   */
  verify(look: Look): Promise<void>
  /** Goes up with each change. */
  generation(): number
}

/** `patienceMs` is how long an event may be missing because a node of a cluster is behind the one that was read before. */
export const newWatchman = (patienceMs: number, changed: (identity: LogIdentity) => void): Watchman => {
  let known: LogIdentity | undefined
  let anchor: { readonly position: Position; readonly id: string } | undefined
  let generation = 0

  const isMissing = async ({ holds }: Look, { position, id }: NonNullable<typeof anchor>) => {
    const until = performance.now() + patienceMs
    for (;;) {
      if ((await holds(position, id)) !== false) return false
      if (performance.now() > until) return true
      await setTimeout(AGAIN_MS)
    }
  }

  const verify = async (look: Look) => {
    const last = anchor
    let now = await look.known()
    const isOther = known !== undefined && (known.epoch !== now?.epoch || known.id !== now.id)
    const isCut = !isOther && last !== undefined && (await isMissing(look, last))
    if (isCut || (isOther && !now)) now = await look.renewEpoch(now?.epoch ?? '')
    if (!now) return
    const isNews = known?.epoch !== now.epoch // otherwise another connection has noticed it meanwhile
    known = now
    if (!isNews || !(isOther || isCut)) return
    anchor = undefined
    generation += 1
    changed(now)
  }

  return {
    saw: (event) => {
      if (event && (!anchor || event.position > anchor.position)) anchor = { position: event.position, id: event.id }
    },
    knows: (identity) => {
      known ??= identity
    },
    verify,
    generation: () => generation,
  }
}
