import { setTimeout } from 'node:timers/promises'
import { LogChanged, type LogIdentity, type NewEpoch, type Position } from './log.ts'

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
  /** Notes the log's identity if none was noted before. Returns whether it is the one that was noted; else the log is to be verified. */
  noteIdentity(identity: LogIdentity): boolean
  /**
   * Compares the log with what was noted. If it lacks the last event that was read, begins a new epoch.
   * @throws LogChanged if its epoch is another one; errors of the probe
   */
  verify(probe: LogProbe): Promise<void>
  /** @throws LogChanged once the log's epoch was found to be another one */
  assertSame(): void
}

/**
 * `changed` is called once, synchronously, before anything is read from a log in another epoch. `timeoutMs` is how long an event may be missing,
 * because a cluster's node lags behind the one that was read before.
 */
export const newIdentityCheck = (timeoutMs: number, changed: (epoch: NewEpoch) => void): IdentityCheck => {
  let noted: LogIdentity | undefined
  /** The last event that was read. */
  let anchor: { readonly position: Position; readonly id: string } | undefined
  let isOver = false

  const assertSame = () => {
    if (isOver) throw new LogChanged()
  }

  const end = (epoch: NewEpoch): never => {
    if (!isOver) {
      isOver = true
      changed(epoch)
    }
    throw new LogChanged()
  }

  const isOther = (current: LogIdentity | undefined) =>
    noted !== undefined && (noted.epoch !== current?.epoch || noted.id !== current.id)

  const isMissing = async ({ holds }: LogProbe, { position, id }: NonNullable<typeof anchor>) => {
    const until = performance.now() + timeoutMs
    for (;;) {
      if ((await holds(position, id)) !== false) return false
      if (performance.now() > until) return true
      await setTimeout(RETRY_MS)
    }
  }

  const noteIdentity = (identity: LogIdentity) => {
    noted ??= identity
    return !isOther(identity)
  }

  const verify = async (probe: LogProbe) => {
    assertSame()
    const last = anchor
    let current = await probe.storedIdentity()
    const hasChanged = isOther(current)
    const hasLostEnd = last !== undefined && (await isMissing(probe, last))
    if (hasChanged ? !current : hasLostEnd) current = await probe.renewEpoch(current?.epoch ?? NO_EPOCH)
    assertSame()
    if (current && (hasLostEnd || isOther(current))) end({ ...current, hasLostEnd })
    noted = current
  }

  return {
    noteRead: (event) => {
      if (event && (!anchor || event.position > anchor.position)) anchor = { position: event.position, id: event.id }
    },
    noteIdentity,
    verify,
    assertSame,
  }
}
