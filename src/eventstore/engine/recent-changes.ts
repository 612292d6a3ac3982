/**
 * The newest changes that this node has observed in the log. The read models may not show them yet: an answer that was read
 * before a change that concerns it must not be cached or sent.
 */
export type RecentChanges<Change> = {
  note(position: bigint, change: Change): void
  /** Whether a change after `position` matches; `unknown` if not all changes after it are remembered. */
  since(position: bigint, concerns: (change: Change) => boolean): 'changed' | 'unchanged' | 'unknown'
}

/** Remembers at least the newest `keep` changes, and at most twice as many. They have to be noted in the order of the log. */
export const newRecentChanges = <Change>(keep: number): RecentChanges<Change> => {
  let recent: { readonly position: bigint; readonly change: Change }[] = []
  let forgotten = -1n

  const note = (position: bigint, change: Change) => {
    recent.push({ position, change })
    if (recent.length <= 2 * keep) return
    forgotten = recent[keep]!.position
    recent = recent.slice(keep + 1)
  }

  const since: RecentChanges<Change>['since'] = (position, concerns) => {
    if (position < forgotten) return 'unknown'
    for (let i = recent.length - 1; i >= 0 && recent[i]!.position > position; i--)
      if (concerns(recent[i]!.change)) return 'changed'
    return 'unchanged'
  }

  return { note, since }
}
