import { mainGroup } from '../../projections/index.ts'
import type { ReadTables } from '../../src/tables/main.ts'
import { newCodec } from '../../src/eventstore/engine/codec.ts'
import { newWatermark } from '../../src/eventstore/engine/watermark.ts'
import { schemaOf } from '../../src/eventstore/engine/group.ts'
import { newQuarantine } from '../../src/eventstore/engine/quarantine.ts'
import { openReads } from '../../src/eventstore/engine/reads.ts'
import { newSchemaCleanups } from '../../src/eventstore/engine/schema-cleanup.ts'
import { startRunner } from '../../src/eventstore/engine/runner.ts'
import { newTransactor } from '../../src/eventstore/engine/transact.ts'
import { formats } from '../../src/server/events.ts'
import type { EventLog } from '../../src/eventstore/log/log.ts'
import { wholeAppends } from '../../src/eventstore/log/whole-appends.ts'
import { traces } from '../../src/server/trace/decide.ts'
import { trimTrace } from '../../src/server/trace/state-size.ts'
import { traceSource } from '../../src/server/trace/source.ts'
import { openBareLog } from './bare-log.ts'
import { outage, silent } from './silent.ts'

type EngineOptions = {
  readonly budget?: number
  readonly now?: () => number
  /** Returns the log that the engine uses, made from the real one. */
  readonly change?: (log: EventLog) => EventLog
}

/** A log, projections and traces on one database, without HTTP. `close` does not drop the database. */
export const openEngine = (
  url: string,
  { budget = 16 * 1024 * 1024, now = Date.now, change = (log) => log }: EngineOptions = {},
) => {
  const log = change(wholeAppends(openBareLog(url)))
  const codec = newCodec(formats)
  const watermark = newWatermark()
  const quarantine = newQuarantine()
  const cleanups = newSchemaCleanups({ url, logger: silent })
  const runner = startRunner({
    ...{ url, group: mainGroup, log, codec, watermark, quarantine, logger: silent, outage },
    cleanup: cleanups.of(mainGroup),
  })
  const reads = openReads<ReadTables>({
    url,
    schema: schemaOf(mainGroup),
    quarantine,
    head: () => log.head(),
    lastSeen: watermark.position,
  })
  const source = traceSource(reads, (position) => watermark.waitFor(position, 5_000))
  const transactor = newTransactor({ kind: traces, source, log, codec, now, budget, trim: trimTrace })
  const close = async () => {
    await runner.close()
    await cleanups.close()
    await log.close()
    await reads.close()
  }
  return { log, codec, watermark, quarantine, runner, reads, source, traces: transactor, close }
}

export type Engine = ReturnType<typeof openEngine>
