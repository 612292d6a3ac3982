import type pg from 'pg'
import { type BuildState, readBuildState } from '../engine/build-state.ts'
import type { OpenGroup } from '../engine/open-group.ts'
import type { OpenGroups } from '../engine/open-groups.ts'
import { locks } from '../engine/schema.ts'
import { hasLeader } from '../postgres/leader.ts'
import { percentDone } from '../percent.ts'
import type { Readiness } from '../http/health.ts'

/** Read models with a greater lag count as missing. */
export const MAX_LAG_MS = 5_000

/** So long a group may be without a leader, because another process takes over within this time. */
const TAKEOVER_MS = 10_000

/** For how many milliseconds no process has run a group's projections, counted from the first call that finds none; 0 while one does. */
export type ProjectorWatch = (node: OpenGroup) => Promise<number>

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

export type GroupsHealthOptions = {
  readonly groups: OpenGroups
  /** For queries about what other processes build. */
  readonly pool: Pick<pg.Pool, 'query'>
  /** The last position that this node's caches have observed. */
  readonly lastSeen: () => bigint
  readonly projectors: ProjectorWatch
}

/** The health of read models that another process builds. */
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
      // A process with a runner of its own is about to build them.
      return {
        missing: hasNoRunner ? ['the read models are not there, and no projector builds them'] : [],
        degraded: [],
      }
  }
}

/** What is missing when no process runs the projections; for a process without a runner. */
const projectorHealth = async (node: OpenGroup, projectors: ProjectorWatch): Promise<string[]> =>
  (await projectors(node)) > TAKEOVER_MS
    ? ['no process keeps the read models up to date: start one with the role projector']
    : []

/** The health of one group, in sentences. What is `missing` keeps queries over this group from being answered. */
const healthOf = async (node: OpenGroup, { pool, lastSeen, projectors }: GroupsHealthOptions): Promise<Readiness> => {
  const [missing, degraded]: [string[], string[]] = [[], []]
  const state = node.state()
  if (state?.is === 'stopped') missing.push(`projections have stopped: ${state.reason}`)
  if (state?.is === 'rebuilding')
    missing.push(`read models are being built: ${percentDone(state.from, state.position, state.head)} %`)
  else {
    const other = await readBuildState(pool as pg.Pool, node.group)
      .then((build) => healthOfBuild(build, lastSeen(), state === undefined))
      .catch(() => undefined) // the check of the reads reports that the database is away
    missing.push(...(other?.missing ?? []))
    degraded.push(...(other?.degraded ?? []))
    if (!state && other && other.missing.length === 0)
      missing.push(...(await projectorHealth(node, projectors).catch(() => [])))
  }
  const behind = Math.round(node.lag.ms() / 1_000)
  if (node.lag.ms() > MAX_LAG_MS) missing.push(`the read models are too far behind: ${behind} s`)
  degraded.push(...node.quarantine.list().map(({ stream, reason }) => `${stream} is in quarantine: ${reason}`))
  return { missing, degraded }
}

/** The health of all groups. What other groups than the main one miss only degrades the service; it is reported with their names. */
export const groupsHealth = async (options: GroupsHealthOptions): Promise<Readiness> => {
  const { main, all } = options.groups
  const found = await Promise.all(all.map(async (node) => ({ node, health: await healthOf(node, options) })))
  const others = found
    .filter(({ node }) => node !== main)
    .flatMap(({ node, health }) =>
      [...health.missing, ...health.degraded].map((reason) => `${node.group.name}: ${reason}`),
    )
  const { missing, degraded } = found.find(({ node }) => node === main)!.health
  return { missing, degraded: [...degraded, ...others] }
}
