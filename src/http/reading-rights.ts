import type { RecentChanges } from '../engine/recent-changes.ts'
import { Unavailable } from '../engine/rejected.ts'
import { withTimeout } from '../engine/with-timeout.ts'
import type { EndsReading } from './long-list.ts'
import type { Reading } from './reading.ts'

const AGAIN_MS = 300
const PATIENCE_MS = 1_000

/** Whether the readers of long lists may go on reading. All @throws 401, 404 when not, Unavailable when nobody can tell. */
export type ReadingRights = {
  /** Looks now, and takes the time that it takes. */
  confirm(reading: Reading): Promise<void>
  /**
   * Resolves when nothing that is older than a second can have taken the right away: at once while this node hears of
   * all that happens, else after a look, of a second at most.
   */
  sure(reading: Reading): Promise<void>
}

export const newReadingRights = (isAlive: () => boolean, losses: RecentChanges<EndsReading>): ReadingRights => {
  const confirm = async (reading: Reading) => {
    const checked = { at: performance.now(), isWatched: isAlive() }
    // The snapshot may be older than what this node has heard of.
    const outcome = losses.since(await reading.check(), (ends) => ends(reading))
    if (outcome === 'changed') throw new Unavailable('the right to read has been taken away')
    if (outcome === 'unknown') throw new Unavailable('it is not known whether the right to read has been taken away')
    reading.checked = checked
  }

  const isSure = ({ checked }: Reading) => (isAlive() && checked.isWatched) || performance.now() - checked.at < AGAIN_MS

  const sure = async (reading: Reading) => {
    if (isSure(reading)) return
    reading.checking ??= withTimeout(PATIENCE_MS, 'rights cannot be looked up', confirm(reading)).finally(() => {
      reading.checking = undefined
    })
    await reading.checking
  }

  return { confirm, sure }
}
