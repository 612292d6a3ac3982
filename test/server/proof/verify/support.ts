import { newId } from '../../../../src/base/ids.ts'
import type { EventLog, NewEvent } from '../../../../src/eventstore/log/log.ts'
import { wholeAppends } from '../../../../src/eventstore/log/whole-appends.ts'
import { migrate } from '../../../../src/eventstore/postgres/migrate.ts'
import { openCheckpoint } from '../../../../src/server/proof/checkpoint.ts'
import { startTreeProcess } from '../../../../src/server/proof/process.ts'
import type { Finding } from '../../../../src/server/proof/verify/findings.ts'
import type { EventSource } from '../../../../src/server/proof/verify/hashed-event.ts'
import { openPostgresEvents } from '../../../../src/server/proof/verify/postgres-events.ts'
import { type VerifyOptions, verifyLog } from '../../../../src/server/proof/verify/verify-log.ts'
import { openPostgresLog } from '../../../../src/eventstore/log/postgres/postgres-log.ts'
import { type Database, freshDatabase, onServer } from '../../../support/database.ts'
import { outage, silent } from '../../../support/silent.ts'
import { until } from '../../../support/until.ts'
import { signer, untilCovered } from '../support.ts'

/** One append of events with these types and bodies, as a service would write them. */
export const appendOf = (...events: readonly (readonly [type: string, data: string])[]): NewEvent[] => {
  const append = newId()
  return events.map(([type, data], index) => ({
    id: newId(),
    type,
    data,
    metadata: JSON.stringify({
      at: 1_700_000_000_000 + index,
      actor: { userId: newId(), sessionId: newId() },
      requestId: newId(),
      schema: 1,
      append: { id: append, index, size: events.length },
    }),
  }))
}

const HOSTILE = ['a\u0000b\ud800', 'Tä — "quoted" \\ \n\t\u001f\u007f', '😀\u2028', '\u00d8\u00ff']

const messages = (count: number, from = 0) =>
  appendOf(
    ...Array.from(
      { length: count },
      (_, i) => ['MessageAdded', JSON.stringify({ n: from + i, text: HOSTILE[i % HOSTILE.length] })] as const,
    ),
  )

/** A log of 900 events: many traces, some of them erased, one deleted twice, appends that were split, all mixed. */
export const fillLog = async (log: EventLog): Promise<void> => {
  const deleted = () => appendOf(['TraceDeleted', '{}'])
  const trace = async (lives: number) => {
    const stream = `trace-${newId()}`
    let { revision } = await log.append(stream, 'none', messages(7))
    for (let i = 1; i < lives; i++) {
      revision = (await log.append(stream, revision, messages(5, i * 10))).revision
      revision = (await log.append(stream, revision, deleted())).revision
      await log.append(`thing-${newId()}`, 'none', messages(3))
      if (i === lives - 1) return { stream, before: revision }
    }
    return undefined
  }
  const big = () => JSON.stringify({ text: 'x'.repeat(900) })
  for (let round = 0; round < 10; round++) {
    const erased = await Promise.all([trace(1), trace(2), trace(1), trace(3), trace(1)])
    await Promise.all([
      log.append(`big-${newId()}`, 'none', appendOf(['Big', big()], ['Small', '{}'], ['Big', big()])),
      log.append(`many-${newId()}`, 'none', messages(20)),
      ...erased.flatMap((one) => (one ? [log.append(one.stream, one.before, messages(2, 90))] : [])),
    ])
    for (const one of erased.slice(0, 4)) if (one) gone.push(one)
  }
}

/** What is to be erased once it is covered. */
const gone: { stream: string; before: bigint }[] = []

export type Filled = { readonly database: Database; readonly log: EventLog; close(): Promise<void> }

/** A database with such a log in it, covered, erased, and signed. */
export const openFilled = async (log?: EventLog): Promise<Filled> => {
  const database = await freshDatabase()
  await migrate(database.url)
  const whole = log ?? wholeAppends(openPostgresLog({ url: database.url, maxAppendBytes: 400 }))
  const proof = startTreeProcess({ url: database.url, log: whole, signer, now: Date.now, logger: silent, outage })
  gone.length = 0
  await fillLog(whole)
  const { leaves } = await untilCovered(database, whole)
  const isSigned = 'select from tracebook.audit_keys where size = $1'
  await until(async () => (await onServer(database.url, isSigned, [leaves.length])).rows.length > 0)
  for (const { stream, before } of gone) await whole.truncate(stream, before)
  await proof.close()
  const close = async () => {
    await whole.close()
    await database.drop()
  }
  return { database, log: whole, close }
}

/** The checkpoint that is stored now. */
export const storedCheckpoint = async ({ url }: Database) => {
  const { rows } = await onServer(url, 'select key, note from tracebook.audit_keys order by number desc limit 1')
  const { key, note } = rows[0] as { key: string; note: string }
  return { ...openCheckpoint(note, signer.verifier), key }
}

/** All that a check finds. */
export const findingsOf = async (
  { url }: Database,
  options: Partial<VerifyOptions> = {},
  source?: EventSource,
): Promise<Finding[]> => {
  const found: Finding[] = []
  const events = source ?? (await openPostgresEvents(url))
  try {
    await verifyLog({ url, events, report: (finding) => void found.push(finding), ...options })
  } finally {
    if (!source) await events.close()
  }
  return found
}
