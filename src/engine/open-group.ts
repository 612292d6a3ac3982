import type { EventLog } from '../log/log.ts'
import { watchCheckpoint } from './checkpoint-watch.ts'
import type { Codec } from './codec.ts'
import { type Group, schemaOf } from './group.ts'
import { type Watermark, newWatermark } from './watermark.ts'
import { type Lag, newLag } from './lag.ts'
import { type Quarantine, newQuarantine } from './quarantine.ts'
import { type RunnerOptions, type RunnerState, startRunner } from './runner.ts'

/** What a node knows of a group of read models: how far it has come, and which streams it has in quarantine. */
export type OpenGroup = {
  readonly group: Group
  readonly schema: string
  readonly watermark: Watermark
  readonly quarantine: Quarantine
  readonly lag: Lag
  /** What this node's own runner does; undefined where it has none. */
  state(): RunnerState | undefined
  close(): Promise<void>
}

export type OpenGroupOptions = {
  readonly url: string
  readonly group: Group
  readonly log: EventLog
  readonly codec: Codec
  /** Whether this process may build the read models itself. */
  readonly runs: boolean
  /** The last position that this node has heard of. */
  readonly lastSeen: Pick<Watermark, 'position'>
  readonly logger: RunnerOptions['logger']
  readonly outage: RunnerOptions['outage']
  readonly observe?: RunnerOptions['observe']
}

/** Runs a group's projections, or stands by, and in any case knows how far they have come. */
export const openGroup = (options: OpenGroupOptions): OpenGroup => {
  const { url, group, log, codec, runs, lastSeen: heard, logger, outage, observe } = options
  const schema = schemaOf(group)
  const [watermark, quarantine] = [newWatermark(), newQuarantine()]
  const common = { url, watermark, quarantine }
  const runner = runs
    ? startRunner({ ...common, group, log, codec, logger, outage, ...(observe ? { observe } : {}) })
    : undefined
  const state = () => runner?.state()
  const checkpoints = watchCheckpoint({ ...common, log, schema, isNeeded: () => state()?.is !== 'running' })
  log.onChange(watermark.restart) // positions mean something else from here on
  const close = async () => {
    await Promise.all([runner?.close(), checkpoints.close()])
  }
  return { group, schema, watermark, quarantine, lag: newLag(heard, watermark), state, close }
}
