/** What became of one file. `deleted`: its trace was deleted on the server, so it is not uploaded again. */
export type FileStatus = 'synced' | 'unchanged' | 'empty' | 'deleted' | 'failed'

/** Messages that the server acknowledged (in a dry run: that would be sent); `new` and `updated` of them. */
export type Tally = { readonly messages: number; readonly new: number; readonly updated: number }

/** The counts of a whole run; files by their status. */
export type Summary = Tally & {
  readonly type: 'summary'
  readonly dryRun: boolean
  readonly synced: number
  readonly unchanged: number
  readonly empty: number
  readonly deleted: number
  readonly failed: number
  readonly skippedLines: number
  readonly leftOutMessages: number
  /** Why the run ended early. */
  readonly stopped?: string
  readonly exitCode: number
}

/** What happens in a run, in the order in which it happens. `file` is a path; `--json` prints all but `progress`. */
export type SyncEvent =
  | { readonly type: 'start'; readonly server: string; readonly namespace: string; readonly files: number }
  | { readonly type: 'progress'; readonly messages: number }
  | {
      readonly type: 'problem'
      readonly file: string
      readonly kind: 'line_skipped' | 'message_left_out' | 'session_failed' | 'unreadable'
      readonly line?: number
      readonly externalId?: string
      readonly message: string
    }
  | { readonly type: 'notice'; readonly file: string; readonly externalId: string; readonly message: string }
  | (Tally & {
      readonly type: 'session'
      readonly file: string
      readonly externalId?: string
      readonly status: FileStatus
    })
  | Summary

export type Report = (event: SyncEvent) => void
