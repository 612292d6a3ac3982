import { newIdentityCheck } from '../identity-check.ts'
import { type LogIdentity, type NewEpoch, type Position } from '../log.ts'
import type { Connection } from './connection.ts'
import type { IdentityStore } from './identity-store.ts'

/** How long a newly elected leader may lack an event that was read from the one before. */
const TIMEOUT_MS = 2_000

/** Verifies the log's identity after each failure of a connection, because another server or an older copy may answer then. */
export type EpochGuard = {
  /** The log's identity. @throws LogUnavailable */
  identity(): Promise<LogIdentity>
  /** Begins another epoch (see `log.ts`). This process notices it at once. */
  renewEpoch(seen: string): Promise<LogIdentity>
  /** Notes the last event of a page. Appended events do not count, because reads may not show them yet. */
  noteRead(event: { readonly position: Position; readonly id: string } | undefined): void
  /** A number that is another one after each failed call, when another server may answer; undefined until that one is verified. */
  verification(): number | undefined
  /** @throws LogChanged if the epoch has changed, LogUnavailable if the log cannot be reached */
  assertSame(): Promise<void>
}

export const newEpochGuard = (
  connections: readonly Pick<Connection, 'failures'>[],
  identityStore: IdentityStore,
  changed: (epoch: NewEpoch) => void,
): EpochGuard => {
  const check = newIdentityCheck(TIMEOUT_MS, changed)
  const failures = () => connections.reduce((sum, connection) => sum + connection.failures(), 0)
  let verified = failures() // the count of failures at the last verification
  let verifying: Promise<void> | undefined

  const verify = async () => {
    const before = failures()
    await check.verify(identityStore)
    verified = before
  }

  const assertSame = async () => {
    while (verified !== failures()) {
      verifying ??= verify().finally(() => {
        verifying = undefined
      })
      await verifying
    }
    check.assertSame()
  }

  const verification = () => (verified === failures() ? verified : undefined)

  const identity = async () => {
    const current = await identityStore.identity()
    if (!check.noteIdentity(current)) await verify()
    return current
  }

  const renewEpoch = async (seen: string) => {
    const renewed = await identityStore.renewEpoch(seen)
    await verify().catch(() => {}) // throws LogChanged, if not for another reason
    return renewed
  }

  return { identity, renewEpoch, noteRead: check.noteRead, verification, assertSame }
}
