/** How many connections each pool of a process may have. */
export type PoolSizes = {
  readonly reads: number
  readonly log: number
  readonly operations: number
  readonly jobs: number
  readonly limits: number
}

/** Connections that come one by one; two of them now and then only. */
export const SINGLE_CONNECTIONS = [
  'log writer',
  'log listener',
  'checkpoint watch',
  'projections',
  'lost answers',
  'tidying',
  'summaries',
  'erasure',
] as const

/** What everything works with; the job runner keeps one of its connections for listening. */
const LEAST: PoolSizes = { reads: 3, log: 2, operations: 2, jobs: 2, limits: 1 }

/** Who gets one more, in this order; then the second list again and again. */
const FIRST = ['reads', 'log', 'reads', 'operations', 'reads', 'jobs', 'limits', 'reads', 'log'] as const
const THEN = ['reads', 'reads', 'log', 'reads', 'reads', 'operations'] as const

const sum = (sizes: PoolSizes) => Object.values(sizes).reduce((total, size) => total + size, 0)

export const LEAST_CONNECTIONS = SINGLE_CONNECTIONS.length + sum(LEAST)

/**
 * Shares out what a process may have of the server's connections (`DATABASE_CONNECTIONS`), the single ones included:
 * all at once they never are more. A role that a process lacks leaves its own unused.
 */
export const poolSizes = (connections: number): PoolSizes => {
  const sizes: Record<keyof PoolSizes, number> = { ...LEAST }
  for (let more = 0; more < connections - LEAST_CONNECTIONS; more++)
    sizes[FIRST[more] ?? THEN[(more - FIRST.length) % THEN.length]!] += 1
  return sizes
}
