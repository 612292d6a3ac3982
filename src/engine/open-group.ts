import type { EventLog } from '../log/log.ts'
import { watchCheckpoint } from './checkpoint-watch.ts'
import type { Codec } from './codec.ts'
import { type Group, schemaOf } from './group.ts'
import { type Watermark, newWatermark } from './watermark.ts'
import { type Lag, newLag } from './lag.ts'
import { type Quarantine, newQuarantine } from './quarantine.ts'
import { type RunnerOptions, type RunnerState, startRunner } from './runner.ts'

/** A group of read models as this node sees it: its watermark, its quarantine, its lag, and its runner if there is one. */
export type OpenGroup = {
  readonly group: Group
  readonly schema: string
  readonly watermark: Watermark
  readonly quarantine: Quarantine
  readonly lag: Lag
  /** The state of this node's runner; undefined when this node runs none. */
  state(): RunnerState | undefined
  close(): Promise<void>
}

export type OpenGroupOptions = {
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
  readonly observe?: RunnerOptions['observe']
}

/** Starts the group's runner, if this process runs one, and follows the group's checkpoint in any case. */
export const openGroup = (options: OpenGroupOptions): OpenGroup => {
  const { url, group, log, codec, runs, lastSeen, logger, outage, observe } = options
  const schema = schemaOf(group)
  const [watermark, quarantine] = [newWatermark(), newQuarantine()]
  const common = { url, watermark, quarantine }
  const runner = runs
    ? startRunner({ ...common, group, log, codec, logger, outage, ...(observe ? { observe } : {}) })
    : undefined
  const state = () => runner?.state()
  const checkpoints = watchCheckpoint({ ...common, log, schema, isNeeded: () => state()?.is !== 'running' })
  log.onChange(watermark.restart) // positions belong to other events from now on
  const close = async () => {
    await Promise.all([runner?.close(), checkpoints.close()])
  }
  return { group, schema, watermark, quarantine, lag: newLag(lastSeen, watermark), state, close }
}
