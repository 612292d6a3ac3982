import type { EventLog } from '../log/log.ts'
import type { Codec } from './codec.ts'
import { type Group, MAIN } from './group.ts'
import { type OpenGroup, openGroup } from './open-group.ts'
import type { Watermark } from './watermark.ts'
import type { RunnerOptions } from './runner.ts'

/** All groups of read models, as this node sees them. */
export type OpenGroups = {
  /** The group that commands and queries read from. */
  readonly main: OpenGroup
  readonly all: readonly OpenGroup[]
  close(): Promise<void>
}

export type OpenGroupsOptions = {
  readonly url: string
  readonly groups: readonly Group[]
  readonly log: EventLog
  readonly codec: Codec
  /** Whether this process runs projections. */
  readonly runs: boolean
  /** The last position that this node's caches have observed. */
  readonly lastSeen: Pick<Watermark, 'position'>
  readonly logger: RunnerOptions['logger']
  readonly outage: RunnerOptions['outage']
  /** Called after each batch, for the metrics; `ms` is how long it took. */
  readonly observe: (group: string, events: number, ms: number) => void
}

/** Names of groups are parts of schemas' names: letters only, so that no schema belongs to two groups. */
const assertNames = (groups: readonly Group[]) => {
  const names = groups.map(({ name }) => name)
  if (new Set(names).size < names.length) throw new Error(`two groups of read models have one name: ${names.join()}`)
  for (const name of names) if (!/^[a-z]+$/.test(name)) throw new Error(`${name} is no name for a group of read models`)
  if (!names.includes(MAIN)) throw new Error(`no group of read models is called ${MAIN}`)
}

/** Opens all groups; each has its own runner, checkpoint, quarantine and lag. */
export const openGroups = ({ groups, log, logger, observe, ...common }: OpenGroupsOptions): OpenGroups => {
  assertNames(groups)
  log.onChange(({ epoch }) =>
    logger.error(
      { epoch },
      'the log has lost its end, another copy of it serves, or an operator has restored it: memory is emptied, its new epoch begins',
    ),
  )
  const all = groups.map((group) =>
    openGroup({ ...common, group, log, logger, observe: (events, ms) => observe(group.name, events, ms) }),
  )
  const main = all.find(({ group }) => group.name === MAIN)!
  const close = async () => {
    await Promise.all(all.map((open) => open.close()))
  }
  return { main, all, close }
}
