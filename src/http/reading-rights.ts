import type { RecentChanges } from '../engine/recent-changes.ts'
import { Unavailable } from '../engine/rejected.ts'
import { withTimeout } from '../engine/rejected.ts'
import type { EndsReading } from './long-list.ts'
import type { OpenList } from './open-list.ts'

const RECENT_MS = 300
const TIMEOUT_MS = 1_000

/** Checks that the readers of long lists may continue to read. @throws HttpError unauthorized, not_found; Unavailable if it is not known */
export type ReadingRights = {
  /** Queries the rights now. */
  confirm(openList: OpenList): Promise<void>
  /**
   * Resolves if no event that is older than a second has taken the right away: at once while this node follows the log,
   * else after a query of at most a second.
   */
  ensure(openList: OpenList): Promise<void>
}

export const newReadingRights = (isCurrent: () => boolean, losses: RecentChanges<EndsReading>): ReadingRights => {
  const confirm = async (openList: OpenList) => {
    const checked = { at: performance.now(), isWatched: isCurrent() }
    // The snapshot may be older than events that this node has seen.
    const outcome = losses.since(await openList.check(), (ends) => ends(openList))
    if (outcome === 'changed') throw new Unavailable('the right to read has been taken away')
    if (outcome === 'unknown') throw new Unavailable('it is not known whether the right to read has been taken away')
    openList.checked = checked
  }

  const isRecent = ({ checked }: OpenList) =>
    (isCurrent() && checked.isWatched) || performance.now() - checked.at < RECENT_MS

  const ensure = async (openList: OpenList) => {
    if (isRecent(openList)) return
    openList.checking ??= withTimeout(TIMEOUT_MS, 'rights cannot be looked up', confirm(openList)).finally(() => {
      openList.checking = undefined
    })
    await openList.checking
  }

  return { confirm, ensure }
}
