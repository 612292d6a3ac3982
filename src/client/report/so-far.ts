import type { FileStatus, Reporter, Summary } from './events.ts'

type Counts = Record<
  | FileStatus
  | 'messages'
  | 'new'
  | 'updated'
  | 'skippedLines'
  | 'skippedBytes'
  | 'unknownParts'
  | 'leftOutMessages'
  | 'redacted'
  | 'exposed',
  number
>

/**
 * Passes on the events of a run, and counts them, for a run that has no time to sum itself up. The messages of a session that is
 * under way are counted, but not whether they were new.
 */
export const newRunSoFar = (report: Reporter) => {
  const counts: Counts = {
    ...{ synced: 0, unchanged: 0, empty: 0, deleted: 0, excluded: 0, held: 0, failed: 0 },
    ...{
      messages: 0,
      new: 0,
      updated: 0,
      skippedLines: 0,
      skippedBytes: 0,
      unknownParts: 0,
      leftOutMessages: 0,
      redacted: 0,
      exposed: 0,
    },
  }
  const counted: Reporter = (event) => {
    if (event.type === 'progress') counts.messages += event.messages
    else if (event.type === 'redaction') counts.redacted++
    else if (event.type === 'problem' && event.kind === 'line_skipped') {
      counts.skippedLines++
      counts.skippedBytes += event.bytes ?? 0
    } else if (event.type === 'problem' && event.kind === 'kinds_left_out') counts.unknownParts += event.parts ?? 0
    else if (event.type === 'problem' && event.kind === 'message_left_out') counts.leftOutMessages++
    else if (event.type === 'problem' && event.kind === 'secret_in_history') counts.exposed++
    else if (event.type === 'session') {
      counts[event.status]++
      counts.new += event.new
      counts.updated += event.updated
    }
    report(event)
  }
  const summary = (
    dryRun: boolean,
    { why, exitCode }: { readonly why: string; readonly exitCode: number },
  ): Summary => ({
    type: 'summary',
    dryRun,
    ...counts,
    stopped: why,
    exitCode,
  })
  return { report: counted, summary }
}
