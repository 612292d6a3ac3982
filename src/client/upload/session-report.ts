import type { Reporter, SessionEvent } from '../report/events.ts'

/** Running counts of one file's upload: messages, those of them that were new or updated, and what was left or taken out. */
export type FileCounts = {
  messages: number
  new: number
  updated: number
  leftOut: number
  skippedLines: number
  /** How many bytes of lines were not read, as far as that is known. */
  skippedBytes: number
  /** How many lines, records and blocks were left out, because their kinds are not known. */
  unknownParts: number
  /** How many sessions have no line that is understood. */
  notUnderstood: number
  redacted: number
  /** How many sessions had sent a secret before it was known as one. */
  exposed: number
}

export const newFileCounts = (): FileCounts => ({
  messages: 0,
  new: 0,
  updated: 0,
  leftOut: 0,
  skippedLines: 0,
  skippedBytes: 0,
  unknownParts: 0,
  notUnderstood: 0,
  redacted: 0,
  exposed: 0,
})

/** What is counted and reported of one session. */
export type SessionReport = {
  readonly counts: FileCounts
  readonly report: Reporter
  /** The losses that were not reported to the user before; with `force` all. They count as reported then. */
  readonly newLosses: (losses: readonly string[]) => readonly string[]
  /** The title or id by which users know the session, and who may read it. */
  about: Pick<SessionEvent, 'title' | 'project' | 'visibility' | 'published'>
}
