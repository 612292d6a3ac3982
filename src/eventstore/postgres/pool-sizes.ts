/** How many connections each pool of a process may have. */
export type PoolSizes = {
  readonly reads: number
  readonly log: number
  readonly operations: number
  readonly jobs: number
  readonly limits: number
  readonly timeline: number
  readonly search: number
  readonly attribution: number
}

/** The single connections of a process; the last two are open only at times. */
const PER_PROCESS = [
  'log writer',
  'log listener',
  'checkpoint watch',
  'summaries',
  'erasure',
  'retention',
  'proof',
  'upkeep',
  'schema cleanup',
] as const
/** The single connections for each group of read models; the last is open only at times. */
const PER_GROUP = ['projections', 'lost answers'] as const

export const singleConnections = (groups: number): number => PER_PROCESS.length + groups * PER_GROUP.length

/** The smallest sizes with which everything works. The job runner uses one of its connections for LISTEN. */
const MIN_SIZES: PoolSizes = {
  reads: 3,
  log: 2,
  operations: 2,
  jobs: 2,
  limits: 1,
  timeline: 1,
  search: 1,
  attribution: 1,
}

/** Which pool gets each further connection: the first list once, then the second one repeatedly. */
const FIRST_EXTRA = [
  'reads',
  'log',
  'reads',
  'timeline',
  'reads',
  'search',
  'operations',
  'jobs',
  'limits',
  'reads',
  'log',
  'attribution',
] as const
const FURTHER_EXTRA = ['reads', 'reads', 'log', 'reads', 'reads', 'operations'] as const

const sum = (sizes: PoolSizes) => Object.values(sizes).reduce((total, size) => total + size, 0)

/** The fewest connections that a process with this many groups of read models can work with. */
export const minConnections = (groups: number): number => singleConnections(groups) + sum(MIN_SIZES)

/**
 * Divides the connections that a process may open (`DATABASE_CONNECTIONS`), including the single ones, between its pools. A
 * process without one of the roles does not use the connections of that role.
 */
export const poolSizes = (connections: number, groups: number): PoolSizes => {
  const sizes: Record<keyof PoolSizes, number> = { ...MIN_SIZES }
  for (let more = 0; more < connections - minConnections(groups); more++)
    sizes[FIRST_EXTRA[more] ?? FURTHER_EXTRA[(more - FIRST_EXTRA.length) % FURTHER_EXTRA.length]!] += 1
  return sizes
}
