import type { FileStatus } from '../report/events.ts'
import type { Duty } from '../state/duties.ts'
import type { Destination } from './destination.ts'
import type { HeldSession, Run, SessionRun } from './run.ts'
import { type FileCounts, newFileCounts } from './session-report.ts'
import type { StopReason } from './stop-reason.ts'

/** The result for some sources: sessions by their status, and their counts. */
export type SyncResult = {
  readonly byStatus: Readonly<Record<FileStatus, number>>
  readonly counts: FileCounts
  /** Sessions for which the user can be asked; they are not in `byStatus`. */
  readonly held: readonly HeldSession[]
  /** The sources of sessions that failed because other machines upload them. */
  readonly busy: ReadonlySet<string>
  /** How many duties are left that the user may not do any more, and knows. */
  readonly refusedDuties: number
  readonly stopReason?: StopReason | undefined
}

/** Adds up the results of sessions, and ends the run if all others would fail as well. */
export const newTotals = ({ signal: ending }: Run) => {
  const stopped = new AbortController()
  const signal = ending ? AbortSignal.any([stopped.signal, ending]) : stopped.signal
  const counts = newFileCounts()
  const byStatus: Record<FileStatus, number> = {
    synced: 0,
    unchanged: 0,
    empty: 0,
    deleted: 0,
    excluded: 0,
    held: 0,
    failed: 0,
  }
  const held: HeldSession[] = []
  const busy = new Set<string>()
  const tried = new Set<string>()
  let place: Destination | undefined
  let stopReason: StopReason | undefined
  let refusedDuties = 0
  const add = (status: FileStatus | undefined, more: FileCounts) => {
    if (status !== undefined) byStatus[status]++
    for (const key of Object.keys(more) as (keyof FileCounts)[]) counts[key] += more[key]
  }
  const stop = (reason: StopReason) => {
    stopReason ??= reason
    stopped.abort(new Error(reason.why))
  }
  const note = ({ destination, stored: { source }, isErasureOwed = false }: SessionRun) => {
    place ??= destination
    if (isErasureOwed) tried.add(source)
  }
  const result = (): SyncResult => ({ byStatus, counts, held, busy, refusedDuties, stopReason })
  return {
    signal,
    add,
    held,
    busy,
    note,
    /** Any place that a session of the run was sent to. */
    place: () => place,
    /** Whether this run has tried to do a duty, and could not. */
    isTried: ({ source }: Duty) => tried.has(source),
    noteRefused: (duties: number) => void (refusedDuties += duties),
    stop,
    result,
  }
}
export type Totals = ReturnType<typeof newTotals>
