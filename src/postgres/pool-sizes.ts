/** How many connections each pool of a process may have. */
export type PoolSizes = {
  readonly reads: number
  readonly log: number
  readonly operations: number
  readonly jobs: number
  readonly limits: number
}

/** Connections that come one by one. */
const PER_PROCESS = ['log writer', 'log listener', 'summaries', 'erasure'] as const
/** Those of each group of read models; the last two come now and then only. */
const PER_GROUP = ['checkpoint watch', 'projections', 'lost answers', 'schema cleanup'] as const

export const singleConnections = (groups: number): number => PER_PROCESS.length + groups * PER_GROUP.length

/** What everything works with; the job runner keeps one of its connections for listening. */
const MIN_SIZES: PoolSizes = { reads: 3, log: 2, operations: 2, jobs: 2, limits: 1 }

/** Who gets one more, in this order; then the second list again and again. */
const FIRST_EXTRA = ['reads', 'log', 'reads', 'operations', 'reads', 'jobs', 'limits', 'reads', 'log'] as const
const FURTHER_EXTRA = ['reads', 'reads', 'log', 'reads', 'reads', 'operations'] as const

const sum = (sizes: PoolSizes) => Object.values(sizes).reduce((total, size) => total + size, 0)

/** What a process with so many groups of read models cannot do without. */
export const minConnections = (groups: number): number => singleConnections(groups) + sum(MIN_SIZES)

/**
 * Shares out what a process may have of the server's connections (`DATABASE_CONNECTIONS`), the single ones included:
 * all at once they never are more. A role that a process lacks leaves its own unused.
 */
export const poolSizes = (connections: number, groups: number): PoolSizes => {
  const sizes: Record<keyof PoolSizes, number> = { ...MIN_SIZES }
  for (let more = 0; more < connections - minConnections(groups); more++)
    sizes[FIRST_EXTRA[more] ?? FURTHER_EXTRA[(more - FIRST_EXTRA.length) % FURTHER_EXTRA.length]!] += 1
  return sizes
}
