import type pg from 'pg'
import { type BuildState, readBuildState } from '../../eventstore/engine/schema.ts'
import type { OpenGroup } from '../../eventstore/engine/open-groups.ts'
import type { OpenGroups } from '../../eventstore/engine/open-groups.ts'
import { locks } from '../../eventstore/engine/schema.ts'
import { hasLeader } from '../../eventstore/postgres/leader.ts'
import { percentDone } from '../../base/for-people.ts'
import { REQUEST_WAIT_MS } from '../../base/waits.ts'

/** Problems in words: those in `missing` make the service not ready, those in `degraded` do not. */
export type Readiness = { readonly missing: readonly string[]; readonly degraded: readonly string[] }

/** If the read models are further behind the log, the service is not ready: a write that waits for them would time out. */
export const MAX_LAG_MS = REQUEST_WAIT_MS

/** How long another process may take to take over the projections before their absence is reported. */
const TAKEOVER_MS = 10_000

/** For how many milliseconds, since the first call, no process has kept the read models of a group up to date; 0 if one does. */
type ProjectorWatch = (open: OpenGroup) => Promise<number>

export const newProjectorWatch = (pool: Pick<pg.Pool, 'query'>, clock = () => performance.now()): ProjectorWatch => {
  const since = new Map<string, number>()
  return async ({ schema }) => {
    if (await hasLeader(pool as pg.Pool, locks.runner(schema))) {
      since.delete(schema)
      return 0
    }
    if (!since.has(schema)) since.set(schema, clock())
    return clock() - since.get(schema)!
  }
}

type ReadModelsHealthOptions = {
  readonly groups: OpenGroups
  /** Queried for the state of other processes. */
  readonly pool: Pick<pg.Pool, 'query'>
  /** The last position that this node's caches have observed. */
  readonly lastSeen: () => bigint
  readonly projectors: ProjectorWatch
}

/** The health of read models that another process builds. `hasNoRunner`: this process does not have the role to build them itself. */
const healthOfBuild = (build: BuildState, lastSeen: bigint, hasNoRunner: boolean): Readiness => {
  switch (build.is) {
    case 'serving':
      return { missing: [], degraded: [] }
    case 'building':
      return { missing: [`read models are being built: ${percentDone(0n, build.position, lastSeen)} %`], degraded: [] }
    case 'rebuilding':
      return {
        missing: [],
        degraded: [`read models are being rebuilt: ${percentDone(0n, build.position, lastSeen)} %`],
      }
    case 'missing':
      // A process with a runner of its own is about to build them, and reports its own progress.
      return {
        missing: hasNoRunner ? ['there are no read models yet: start a process with the role projector'] : [],
        degraded: [],
      }
  }
}

/** Whether any process keeps the read models up to date; for a process that does not do so itself. */
const projectorHealth = async (open: OpenGroup, projectors: ProjectorWatch): Promise<string[]> =>
  (await projectors(open)) > TAKEOVER_MS
    ? ['no process keeps the read models up to date: start one with the role projector']
    : []

/** The health of one group of read models. */
const healthOf = async (
  open: OpenGroup,
  { pool, lastSeen, projectors }: ReadModelsHealthOptions,
): Promise<Readiness> => {
  const [missing, degraded]: [string[], string[]] = [[], []]
  const state = open.state()
  if (state?.is === 'starting') missing.push('the read models are being compared with the log')
  if (state?.is === 'stopped') missing.push(`projections have stopped: ${state.reason}`)
  if (state?.is === 'rebuilding')
    missing.push(`read models are being built: ${percentDone(state.from, state.position, state.head)} %`)
  else {
    const other = await readBuildState(pool as pg.Pool, open.group)
      .then((build) => healthOfBuild(build, lastSeen(), state === undefined))
      .catch(() => undefined) // `reads.check` reports that the database cannot be reached
    missing.push(...(other?.missing ?? []))
    degraded.push(...(other?.degraded ?? []))
    if (!state && other && other.missing.length === 0)
      missing.push(...(await projectorHealth(open, projectors).catch(() => [])))
  }
  const behind = Math.round(open.lag.ms() / 1_000)
  if (open.lag.ms() > MAX_LAG_MS) missing.push(`the read models are too far behind the log: ${behind} s`)
  degraded.push(...open.quarantine.list().map(({ stream, reason }) => `${stream} is in quarantine: ${reason}`))
  return { missing, degraded }
}

/** The health of all groups. Only the main group can make the service not ready; problems of others count as degraded. */
export const readModelsHealth = async (options: ReadModelsHealthOptions): Promise<Readiness> => {
  const { main, all } = options.groups
  const found = await Promise.all(all.map(async (open) => ({ open, health: await healthOf(open, options) })))
  const others = found
    .filter(({ open }) => open !== main)
    .flatMap(({ open, health }) =>
      [...health.missing, ...health.degraded].map((reason) => `${open.group.name}: ${reason}`),
    )
  const { missing, degraded } = found.find(({ open }) => open === main)!.health
  return { missing, degraded: [...degraded, ...others] }
}
