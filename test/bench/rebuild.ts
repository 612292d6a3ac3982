import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { mainGroup } from '../../projections/index.ts'
import { newCodec } from '../../src/eventstore/engine/codec.ts'
import { schemaOf } from '../../src/eventstore/engine/group.ts'
import { newQuarantine } from '../../src/eventstore/engine/quarantine.ts'
import { startRunner } from '../../src/eventstore/engine/runner.ts'
import { newWatermark } from '../../src/eventstore/engine/watermark.ts'
import { formats } from '../../src/server/events.ts'
import type { EventLog } from '../../src/eventstore/log/log.ts'
import { openPostgresLog } from '../../src/eventstore/log/postgres/postgres-log.ts'
import { wholeAppends } from '../../src/eventstore/log/whole-appends.ts'
import { onServer } from '../support/database.ts'
import { NO_CLEANUP, outage } from '../support/silent.ts'
import { messages } from './corpus.ts'
import { type Measured, type Setting, metadata, withDatabase } from './measure.ts'
import { bareCopy } from './yardsticks.ts'

export const REBUILD_EVENTS = 60_000
const TRACE_EVENTS = 200

const escape = (text: string) => text.replaceAll('\\', '\\\\')

/** The events of a trace with as many messages as one request may have, but one. */
const traceEvents = (externalId: string, number: number) => {
  const append = randomUUIDv7()
  const created = {
    externalId,
    namespaceId: randomUUID(),
    createdBy: randomUUID(),
    agentId: 'claude-code',
    visibility: 'private',
  }
  const added = messages(TRACE_EVENTS - 1, 0, number).map((message, ordinal) => {
    const { externalId, parts, ...rest } = message as { externalId: string; parts: unknown[] }
    const counted = { class: 'agent_text', tools: [], digest: 'x'.repeat(22) }
    return { type: 'MessageAdded', data: JSON.stringify({ externalId, ordinal, ...rest, ...counted, parts }) }
  })
  return [{ type: 'TraceCreated', data: JSON.stringify(created) }, ...added].map((event, i) => ({
    id: randomUUIDv7(),
    ...event,
    metadata: metadata(i, TRACE_EVENTS, append, formats[event.type]!.version),
  }))
}

/** Fills a log; gives its rows as lines for COPY. */
export const fillLog = async (log: EventLog): Promise<string[]> => {
  const lines: string[] = []
  for (let number = 0; number < REBUILD_EVENTS / TRACE_EVENTS; number++) {
    const stream = `trace-${randomUUID()}`
    const events = traceEvents(stream, number)
    await log.append(stream, 'none', events)
    for (const [i, { id, type, data, metadata }] of events.entries())
      lines.push(`${i}\t${stream}\t${i}\t${id}\t${type}\t${escape(data)}\t${escape(metadata)}\n`)
  }
  return lines
}

/** Builds the read models from the log; gives the events a second. */
const buildOnce = async (url: string, log: EventLog): Promise<number> => {
  await onServer(url, `drop schema if exists ${schemaOf(mainGroup)} cascade`)
  const watermark = newWatermark()
  const started = performance.now()
  const runner = startRunner({
    url,
    group: mainGroup,
    log,
    codec: newCodec(formats),
    watermark,
    quarantine: newQuarantine(),
    logger: { info: () => {}, error: console.error },
    outage,
    cleanup: NO_CLEANUP,
  })
  await watermark.waitFor(await log.head(), 600_000)
  const seconds = (performance.now() - started) / 1_000
  await runner.close()
  return REBUILD_EVENTS / seconds
}

/** Events a second of a rebuild of all read models, and of a COPY of the same rows: of two runs the better. */
export const rebuild = ({ world }: Setting) =>
  withDatabase(world.databaseUrl, async (url): Promise<Measured> => {
    const log = wholeAppends(openPostgresLog({ url }))
    const lines = await fillLog(log)
    const copy = async () => REBUILD_EVENTS / (await bareCopy(world.databaseUrl, lines))
    const before = await copy()
    const first = await buildOnce(url, log)
    const after = await copy()
    const second = await buildOnce(url, log)
    await log.close()
    return { value: Math.max(first, second), yardstick: Math.max(before, after) }
  })
