import { setTimeout as sleep } from 'node:timers/promises'
import { anchorOf } from '../engine/apply.ts'
import type { Client } from '../engine/checkpoint.ts'
import { isOutage } from '../engine/faults.ts'
import type { Outage } from '../engine/outage.ts'
import { type EventLog, LogChanged, LogUnavailable } from '../log/log.ts'
import { cut, newClient } from '../postgres/connect.ts'
import { type Leader, openLeader } from '../postgres/leader.ts'
import { type Bell, newBell } from './wakeup.ts'
import { whereToGoOn } from './checkpoint.ts'
import { type Due, deletionsOf, dueNow, noteDone, noteDue, noteFailure } from './pending-erasures.ts'
import { type ErasedGroup, type Tools, erase, failureOf, haveAllPassed, sweepRest } from './erase.ts'

/**
 * After `TraceDeleted` nothing of a trace can be read; this process takes away what is left of it, in the read models and
 * in the log. What is due stands in `tracebook.erasures` until it is done, so a kill at any point is made good. One
 * process leads, on the session that its statements go through. What a former leader still does harms nothing: the
 * checkpoint moves by compare-and-set, and a chunk or a truncation only takes what was deleted for good.
 */
export type ErasureOptions = {
  readonly outage: Outage
  readonly url: string
  readonly log: EventLog
  /** All read models that this node knows: nothing leaves the log before they all have seen its deletion. */
  readonly groups: readonly ErasedGroup[]
  readonly logger: { info(data: object, message: string): void; error(data: object, message: string): void }
}

export type Erasure = { close(): Promise<void> }

const LOCK = 'tracebook erasure'
const STATEMENT_MS = 30_000
/** A chunk does not wait for a row that others hold, so that other streams get their turn. */
const ROW_LOCK_MS = 2_000
const PART = 'erasure'
const RETRY_MS = 500
const LOOK_AGAIN_MS = 1_000
const SWEEP_MS = 5_000
/** How many events may have to be looked at again after a restart, so that not every batch costs a commit. */
const NOTE_EVERY = 5_000n

export const startErasure = ({ url, log, groups, logger, outage }: ErasureOptions): Erasure => {
  const stop = new AbortController()
  let current: Leader | undefined
  let complaint = ''

  const lost = () => logger.error({}, 'the log has lost its end: deletions are looked for from its beginning')

  const follow = async (client: Client, bell: Bell, signal: AbortSignal) => {
    const { epoch } = await log.identity()
    let from = await whereToGoOn(client, log, epoch, lost)
    let anchor: ReturnType<typeof anchorOf>
    for await (const { events, through } of log.follow({ after: from, signal })) {
      anchor = anchorOf(events) ?? anchor
      const deletions = deletionsOf(events)
      if (deletions.length === 0 && through - from < NOTE_EVERY) continue
      if ((await log.identity()).epoch !== epoch) throw new LogChanged()
      const isOurs = await noteDue(client, { from, through, epoch, anchor }, deletions)
      if (!isOurs) throw new Error('another process has moved the checkpoint of erasure')
      from = through
      if (deletions.length > 0) bell.ring()
    }
  }

  /** One stream's fault is its own; that of the log or of the database is everyone's. */
  const failed = async (client: Client, due: Due, error: unknown) => {
    await log.head()
    const [{ stream }, reason] = [due, failureOf(error)]
    if (reason !== due.reason) logger.error({ stream, reason }, 'a deleted trace cannot be erased yet')
    await noteFailure(client, due, reason)
  }

  const eraseDue = async (tools: Tools) => {
    const { client, signal } = tools
    for (const due of await dueNow(client)) {
      if (!(await haveAllPassed(groups, due.position, LOOK_AGAIN_MS))) return
      signal.throwIfAborted()
      try {
        await erase(tools, due)
      } catch (error) {
        signal.throwIfAborted()
        await failed(client, due, error)
        continue
      }
      await noteDone(client, due)
      logger.info({ stream: due.stream }, 'erased')
    }
  }

  const work = async (tools: Tools, bell: Bell) => {
    let swept = Number.NEGATIVE_INFINITY
    while (!tools.signal.aborted) {
      await eraseDue(tools)
      if (performance.now() - swept > SWEEP_MS) {
        await sweepRest(tools)
        swept = performance.now()
      }
      complaint = ''
      await bell.wait(LOOK_AGAIN_MS, tools.signal)
    }
  }

  const lead = async ({ client, lost: ended }: Leader) => {
    await client.query(`set lock_timeout = ${ROW_LOCK_MS}`)
    const over = new AbortController()
    const signal = AbortSignal.any([stop.signal, ended, over.signal])
    const bell = newBell()
    const both = [follow(client, bell, signal), work({ client, log, groups, signal }, bell)]
    const outcomes = await Promise.allSettled(both.map((one) => one.finally(() => over.abort())))
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  const once = async () => {
    const leader = await openLeader(url, newClient(url, 'erasure', STATEMENT_MS))
    outage.over(PART)
    current = leader
    try {
      if (await leader.acquire(LOCK, stop.signal)) await lead(leader)
    } finally {
      current = undefined
      await leader.close()
    }
  }

  const complain = (error: Error) => {
    if (stop.signal.aborted) return
    if (error instanceof LogUnavailable) return // the watch on the log tells of it
    if (isOutage(error)) return outage.noticed(PART, error)
    if (error.message === complaint) return
    complaint = error.message
    logger.info({ reason: error.message }, 'erasure begins again')
  }

  const run = async () => {
    while (!stop.signal.aborted) {
      await once().catch(complain)
      await sleep(RETRY_MS, undefined, { signal: stop.signal }).catch(() => {})
    }
  }

  const running = run()
  const close = async () => {
    stop.abort()
    const patience = setTimeout(() => current && cut(current.client), 2_000)
    await running
    clearTimeout(patience)
  }
  return { close }
}
