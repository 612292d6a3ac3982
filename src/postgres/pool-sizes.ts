/** How many connections each pool of a process may have. */
export type PoolSizes = {
  readonly reads: number
  readonly log: number
  readonly operations: number
  readonly jobs: number
  readonly limits: number
}

/** Connections that come one by one. */
const OF_THE_PROCESS = ['log writer', 'log listener', 'summaries', 'erasure'] as const
/** Those of each group of read models; the last two come now and then only. */
const OF_A_GROUP = ['checkpoint watch', 'projections', 'lost answers', 'schema cleanup'] as const

export const singleConnections = (groups: number): number => OF_THE_PROCESS.length + groups * OF_A_GROUP.length

/** What everything works with; the job runner keeps one of its connections for listening. */
const LEAST: PoolSizes = { reads: 3, log: 2, operations: 2, jobs: 2, limits: 1 }

/** Who gets one more, in this order; then the second list again and again. */
const FIRST = ['reads', 'log', 'reads', 'operations', 'reads', 'jobs', 'limits', 'reads', 'log'] as const
const THEN = ['reads', 'reads', 'log', 'reads', 'reads', 'operations'] as const

const sum = (sizes: PoolSizes) => Object.values(sizes).reduce((total, size) => total + size, 0)

/** What a process with so many groups of read models cannot do without. */
export const leastConnections = (groups: number): number => singleConnections(groups) + sum(LEAST)

/**
 * Shares out what a process may have of the server's connections (`DATABASE_CONNECTIONS`), the single ones included:
 * all at once they never are more. A role that a process lacks leaves its own unused.
 */
export const poolSizes = (connections: number, groups: number): PoolSizes => {
  const sizes: Record<keyof PoolSizes, number> = { ...LEAST }
  for (let more = 0; more < connections - leastConnections(groups); more++)
    sizes[FIRST[more] ?? THEN[(more - FIRST.length) % THEN.length]!] += 1
  return sizes
}
