import { newIdentityCheck } from '../identity-check.ts'
import { LogChanged, type LogIdentity, type Position } from '../log.ts'
import type { Connection } from './connection.ts'
import type { IdentityStore } from './identity-store.ts'

/** How long a newly elected leader may lack an event that was read before. */
const TIMEOUT_MS = 2_000

/** Checks the log's identity after each fault of a connection: another server may answer then, or an older copy. */
export type EpochGuard = {
  /** The log's identity. @throws LogUnavailable */
  identity(): Promise<LogIdentity>
  /** Begins another epoch, as that of the log (`log.ts`); this process notices it at once. */
  renewEpoch(seen: string): Promise<LogIdentity>
  /** Notes the last event of a page. Events that were only appended do not count: reads may not show them yet. */
  noteRead(event: { readonly position: Position; readonly id: string } | undefined): void
  /** How often the log was found in another epoch. */
  generation(): number
  /** @throws LogChanged when this is no longer the generation, LogUnavailable when the log cannot be reached */
  assertSame(generation: number): Promise<void>
}

export const newEpochGuard = (
  connections: readonly Pick<Connection, 'faults'>[],
  identityStore: IdentityStore,
  changed: (identity: LogIdentity) => void,
): EpochGuard => {
  const check = newIdentityCheck(TIMEOUT_MS, changed)
  const faults = () => connections.reduce((sum, connection) => sum + connection.faults(), 0)
  let verified = faults() // the count of faults at the last verification
  let verifying: Promise<void> | undefined

  const verify = async () => {
    const before = faults()
    await check.verify(identityStore)
    verified = before
  }

  const assertSame = async (generation: number) => {
    while (verified !== faults()) {
      verifying ??= verify().finally(() => {
        verifying = undefined
      })
      await verifying
    }
    if (check.generation() !== generation) throw new LogChanged()
  }

  const identity = async () => {
    const present = await identityStore.identity()
    check.noteIdentity(present)
    return present
  }

  const renewEpoch = async (seen: string) => {
    const renewed = await identityStore.renewEpoch(seen)
    await verify()
    return renewed
  }

  return { identity, renewEpoch, noteRead: check.noteRead, generation: check.generation, assertSame }
}
