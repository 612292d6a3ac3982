import type { EventLog } from '../log/log.ts'
import { watchCheckpoints } from './checkpoint-watch.ts'
import type { Codec } from './codec.ts'
import { type Group, MAIN, schemaOf } from './group.ts'
import { newLag } from './lag.ts'
import { newQuarantine } from './quarantine.ts'
import { type RunnerOptions, startRunner } from './runner.ts'
import { type SchemaCleanup, newSchemaCleanups } from './schema-cleanup.ts'
import { type Watermark, newWatermark } from './watermark.ts'

type OpenGroupOptions = {
  readonly url: string
  readonly group: Group
  readonly log: EventLog
  readonly codec: Codec
  /** Whether this process runs the projections, as leader or as standby. */
  readonly runs: boolean
  /** The last position that this node's caches have observed. */
  readonly lastSeen: Pick<Watermark, 'position'>
  readonly logger: RunnerOptions['logger']
  readonly outage: RunnerOptions['outage']
  readonly cleanup: SchemaCleanup
  readonly observe: NonNullable<RunnerOptions['observe']>
  readonly hasRoom?: RunnerOptions['hasRoom']
}

/**
 * A group of read models on this node: its watermark, its quarantine, its lag, and its runner if this process has the role. As long as it runs no
 * projections, somebody else moves its watermark.
 */
const openGroup = (options: OpenGroupOptions) => {
  const { url, group, log, codec, runs, lastSeen, logger, outage, cleanup, observe, hasRoom } = options
  const schema = schemaOf(group)
  const [watermark, quarantine] = [newWatermark(), newQuarantine()]
  const common = { url, watermark, quarantine }
  const runner = runs
    ? startRunner({ ...common, group, log, codec, logger, outage, cleanup, hasRoom, observe })
    : undefined
  /** The state of this node's runner; undefined if this node runs none. */
  const state = () => runner?.state()
  log.onChange(watermark.end)
  const close = async () => runner?.close()
  return { group, schema, watermark, quarantine, lag: newLag(lastSeen, watermark), state, close }
}

export type OpenGroup = ReturnType<typeof openGroup>

type OpenGroupsOptions = Omit<OpenGroupOptions, 'group' | 'observe' | 'cleanup'> & {
  readonly groups: readonly Group[]
  /** Of the server whose read models this node reads. Default: `url`. */
  readonly readUrl?: string
  /** Called after each batch, for the metrics; `ms` is how long it took. */
  readonly observe: (group: string, events: number, ms: number) => void
}

/** The name of a group is part of its schemas' names: only letters, so that no schema belongs to two groups. */
const assertNames = (groups: readonly Group[]) => {
  const names = groups.map(({ name }) => name)
  if (new Set(names).size < names.length)
    throw new Error(`two groups of read models have the same name: ${names.join()}`)
  for (const name of names)
    if (!/^[a-z]+$/.test(name)) throw new Error(`${name} is not a valid name for a group: use lowercase letters only`)
  if (!names.includes(MAIN)) throw new Error(`there is no group of read models with the name ${MAIN}`)
}

/**
 * Opens all groups of read models on this node; each has its own runner, checkpoint, quarantine and lag. One connection follows the checkpoints of
 * those that another process builds.
 */
export const openGroups = ({ groups, readUrl, observe, ...common }: OpenGroupsOptions) => {
  assertNames(groups)
  const { url, log, logger } = common
  const cleanups = newSchemaCleanups({ url, logger })
  const all = groups.map((group) =>
    openGroup({
      ...common,
      group,
      cleanup: cleanups.of(group),
      observe: (events, ms) => observe(group.name, events, ms),
    }),
  )
  const watch = watchCheckpoints({
    url,
    readUrl: readUrl ?? url,
    log,
    groups: all.map(({ schema, watermark, quarantine, state }) => ({
      schema,
      watermark,
      quarantine,
      isNeeded: () => state()?.is !== 'running',
    })),
  })
  /** The group that commands and queries read from. */
  const main = all.find(({ group }) => group.name === MAIN)!
  const close = async () => {
    await Promise.all([watch.close(), ...all.map((open) => open.close()), cleanups.close()])
  }
  return { main, all, close }
}

export type OpenGroups = ReturnType<typeof openGroups>
