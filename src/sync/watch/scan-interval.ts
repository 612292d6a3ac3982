/** The share of the time that scans may take: while the system tells of changes they only catch what it has missed. */
const SHARE = { watched: 1 / 250, unwatched: 1 / 50 }
const SHORTEST_MS = { watched: 10_000, unwatched: 1_500 }
const LONGEST_MS = 10 * 60_000

/** How long after a scan that took `costMs` the next one is due. `isWatched`: the system tells of changes in all folders. */
export const scanIntervalMs = (costMs: number, isWatched: boolean): number => {
  const kind = isWatched ? 'watched' : 'unwatched'
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS[kind], costMs / SHARE[kind]))
}
