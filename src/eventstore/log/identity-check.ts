import { setTimeout } from 'node:timers/promises'
import type { LogIdentity, NewEpoch, Position } from './log.ts'

const RETRY_MS = 50

/** The epoch of a log that has no identity any more: renewing it creates an identity. */
const NO_EPOCH = ''

/** What an adapter reads from a log after it has connected. */
export type LogProbe = {
  /** The log's identity; undefined if none has been created. */
  readonly storedIdentity: () => Promise<LogIdentity | undefined>
  /** Whether the event at a position has this id; undefined if it was erased, so that nothing is known of it. */
  readonly holds: (position: Position, id: string) => Promise<boolean | undefined>
  readonly renewEpoch: (seen: string) => Promise<LogIdentity>
}

/** Checks whether the log of a new connection is the same as before, and has the last event that was read. */
type IdentityCheck = {
  /** Notes an event that was read: after a reconnect the log must still have it. */
  noteRead(event: { readonly position: Position; readonly id: string } | undefined): void
  /** Notes the log's identity, unless one has been noted before. */
  noteIdentity(identity: LogIdentity): void
  /**
   * Compares the log with what was noted. If its epoch is another one, calls `changed` synchronously, before anything is read from the
   * log. If it lacks the last event that was read, begins a new epoch first.
   * @throws errors of the probe
   */
  verify(probe: LogProbe): Promise<void>
  /** How often the log's epoch has changed, and `changed` was called. */
  epochChanges(): number
}

/** `timeoutMs` is how long an event may be missing, because a cluster's node lags behind the one that was read before. */
export const newIdentityCheck = (timeoutMs: number, changed: (epoch: NewEpoch) => void): IdentityCheck => {
  let noted: LogIdentity | undefined
  /** The last event that was read. */
  let anchor: { readonly position: Position; readonly id: string } | undefined
  let epochChanges = 0

  const isMissing = async ({ holds }: LogProbe, { position, id }: NonNullable<typeof anchor>) => {
    const until = performance.now() + timeoutMs
    for (;;) {
      if ((await holds(position, id)) !== false) return false
      if (performance.now() > until) return true
      await setTimeout(RETRY_MS)
    }
  }

  const verify = async (probe: LogProbe) => {
    const last = anchor
    let current = await probe.storedIdentity()
    const isOther = noted !== undefined && (noted.epoch !== current?.epoch || noted.id !== current.id)
    const hasLostEnd = last !== undefined && (await isMissing(probe, last))
    if (isOther ? !current : hasLostEnd) current = await probe.renewEpoch(current?.epoch ?? NO_EPOCH)
    if (!current) return
    const isNewEpoch = noted?.epoch !== current.epoch // false if another connection has noticed the change meanwhile
    noted = current
    if (!isNewEpoch || !(isOther || hasLostEnd)) return
    anchor = undefined
    epochChanges += 1
    changed({ ...current, hasLostEnd })
  }

  return {
    noteRead: (event) => {
      if (event && (!anchor || event.position > anchor.position)) anchor = { position: event.position, id: event.id }
    },
    noteIdentity: (identity) => {
      noted ??= identity
    },
    verify,
    epochChanges: () => epochChanges,
  }
}
