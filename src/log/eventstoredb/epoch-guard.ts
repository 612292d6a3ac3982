import { newWatchman } from '../identity-check.ts'
import { LogChanged, type LogIdentity, type Position } from '../log.ts'
import type { Connection } from './connection.ts'
import type { Identified } from './identity-store.ts'

/** How long an event that was read may be missing on a node that has just begun to lead. */
const PATIENCE_MS = 2_000

/** Looks at the log again after each fault of a connection: what answers from then on may be another server, or an older copy. */
export type Guard = {
  /** What the log says of itself. @throws LogUnavailable */
  identity(): Promise<LogIdentity>
  /** Notes the last event of a page. What was only appended does not count: reads may not show it yet. */
  saw(event: { readonly position: Position; readonly id: string } | undefined): void
  /** Which history of the log this is, as far as is known here. */
  generation(): number
  /** @throws LogChanged when the log is no longer the one of this generation, LogUnavailable when it cannot be asked */
  assertSame(generation: number): Promise<void>
}

export const newGuard = (
  connections: readonly Pick<Connection, 'faults'>[],
  identified: Identified,
  changed: (identity: LogIdentity) => void,
): Guard => {
  const watchman = newWatchman(PATIENCE_MS, changed)
  const faults = () => connections.reduce((sum, connection) => sum + connection.faults(), 0)
  let verified = faults()
  let verifying: Promise<void> | undefined

  const verify = async () => {
    const before = faults()
    await watchman.verify(identified)
    verified = before
  }

  const assertSame = async (generation: number) => {
    while (verified !== faults()) {
      verifying ??= verify().finally(() => {
        verifying = undefined
      })
      await verifying
    }
    if (watchman.generation() !== generation) throw new LogChanged()
  }

  const identity = async () => {
    const now = await identified.identity()
    watchman.knows(now)
    return now
  }

  return { identity, saw: watchman.saw, generation: watchman.generation, assertSame }
}
