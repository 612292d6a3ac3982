import type { Reporter } from '../report/events.ts'
import type { StateFailed } from '../state/state-file.ts'

/** Whether what was uploaded can be noted, when that has changed. */
export type Notes = { readonly noteFailure: (error: StateFailed) => void; readonly noteSuccess: () => void }

/** Says once that a file cannot be written, as on a full disk, and once that it can be again. */
export const newNotes = (report: Reporter): Notes => {
  let failed: string | undefined
  return {
    noteFailure: ({ path: file, reason }) => {
      if (failed === file) return
      failed = file
      const message = `${reason}: what is new waits, and is uploaded once this file can be written again`
      report({ type: 'problem', kind: 'state_failed', file, message })
    },
    noteSuccess: () => {
      if (failed !== undefined) report({ type: 'notice', file: failed, message: 'can be written again' })
      failed = undefined
    },
  }
}
