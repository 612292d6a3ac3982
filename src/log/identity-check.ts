import { setTimeout } from 'node:timers/promises'
import type { LogIdentity, Position } from './log.ts'

const RETRY_MS = 50

/** What an adapter can read from a log to which it has just connected. */
export type LogProbe = {
  /** The log's identity; undefined where none has been created. */
  readonly storedIdentity: () => Promise<LogIdentity | undefined>
  readonly holds: (position: Position, id: string) => Promise<boolean | undefined>
  readonly renewEpoch: (seen: string) => Promise<LogIdentity>
}

/** Finds out whether the log behind a new connection is still the one that was read before, with all that was read. */
export type IdentityCheck = {
  /** Notes an event that was read: after a reconnect the log must still hold it. */
  noteRead(event: { readonly position: Position; readonly id: string } | undefined): void
  /** Notes the log's identity, unless one has been noted before. */
  noteIdentity(identity: LogIdentity): void
  /**
   * Compares the log with what was noted. Calls `changed` synchronously, before anything is read from the log, when its
   * epoch is another one; where an event is missing that was read before, it first begins a new epoch.
   * @throws what the probe throws
   */
  verify(probe: LogProbe): Promise<void>
  /** How often `changed` was called. */
  generation(): number
}

/** `timeoutMs` is how long an event may be missing, because a node of a cluster lags behind the one that was read before. */
export const newIdentityCheck = (timeoutMs: number, changed: (identity: LogIdentity) => void): IdentityCheck => {
  let noted: LogIdentity | undefined
  /** The last event that was read. */
  let anchor: { readonly position: Position; readonly id: string } | undefined
  let generation = 0

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
    let present = await probe.storedIdentity()
    const isOther = noted !== undefined && (noted.epoch !== present?.epoch || noted.id !== present.id)
    const hasLostEnd = !isOther && last !== undefined && (await isMissing(probe, last))
    if (hasLostEnd || (isOther && !present)) present = await probe.renewEpoch(present?.epoch ?? '')
    if (!present) return
    const isNewEpoch = noted?.epoch !== present.epoch // false where another connection has noticed the change meanwhile
    noted = present
    if (!isNewEpoch || !(isOther || hasLostEnd)) return
    anchor = undefined
    generation += 1
    changed(present)
  }

  return {
    noteRead: (event) => {
      if (event && (!anchor || event.position > anchor.position)) anchor = { position: event.position, id: event.id }
    },
    noteIdentity: (identity) => {
      noted ??= identity
    },
    verify,
    generation: () => generation,
  }
}
