import type { EventLog } from '../log/log.ts'
import type { Codec } from './codec.ts'
import { type Group, MAIN } from './group.ts'
import { type OpenGroup, openGroup } from './open-group.ts'
import type { Watermark } from './watermark.ts'
import type { RunnerOptions } from './runner.ts'

/** All groups of read models that a node knows. */
export type OpenGroups = {
  /** What decisions and answers rest on. */
  readonly main: OpenGroup
  readonly all: readonly OpenGroup[]
  close(): Promise<void>
}

export type OpenGroupsOptions = {
  readonly url: string
  readonly groups: readonly Group[]
  readonly log: EventLog
  readonly codec: Codec
  /** Whether this process may build read models itself. */
  readonly runs: boolean
  /** The last position that this node has heard of. */
  readonly lastSeen: Pick<Watermark, 'position'>
  readonly logger: RunnerOptions['logger']
  readonly outage: RunnerOptions['outage']
  /** Told of each batch: the group's name, how many events, and how long it took (ms). */
  readonly observe: (group: string, events: number, ms: number) => void
}

/** A name is part of the names of schemas, and must not look like that of another group's. */
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
      'the log has lost its end, or another copy of it serves: memory is emptied, its new epoch begins',
    ),
  )
  const all = groups.map((group) =>
    openGroup({ ...common, group, log, logger, observe: (events, ms) => observe(group.name, events, ms) }),
  )
  const main = all.find(({ group }) => group.name === MAIN)!
  const close = async () => {
    await Promise.all(all.map((node) => node.close()))
  }
  return { main, all, close }
}
