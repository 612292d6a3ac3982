/**
 * The result for one session. `deleted`: its trace was deleted on the server, so it is not uploaded again; `excluded`: it is not
 * to be sent; `held`: it is sent once the user agrees.
 */
export type FileStatus = 'synced' | 'unchanged' | 'empty' | 'deleted' | 'excluded' | 'held' | 'failed'

/** The number of messages that the server stored, or, in a dry run, that would be sent, and how many were new or updated. */
export type Tally = { readonly messages: number; readonly new: number; readonly updated: number }

/** The counts of a run: files by their status, then messages and lines. */
export type Summary = Tally & {
  readonly type: 'summary'
  readonly dryRun: boolean
  readonly synced: number
  readonly unchanged: number
  readonly empty: number
  readonly deleted: number
  readonly excluded: number
  readonly held: number
  readonly failed: number
  readonly skippedLines: number
  readonly leftOutMessages: number
  /** How many secrets were taken out of what was sent. */
  readonly redacted: number
  /** Why the run ended early. */
  readonly stopped?: string
  readonly exitCode: number
}

/** The events of a run, in order. `file` is a path. `--json` prints all but `progress`. */
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
  | {
      /** A secret that was taken out of a message, or without `externalId` of the trace's fields. */
      readonly type: 'redaction'
      readonly file: string
      readonly externalId?: string
      readonly where: string
      readonly rule: string
      readonly hash: string
    }
  | { readonly type: 'notice'; readonly file: string; readonly externalId?: string; readonly message: string }
  | (Tally & {
      readonly type: 'session'
      readonly file: string
      readonly externalId?: string
      readonly status: FileStatus
      /** Why it is excluded or held. */
      readonly why?: string
    })
  /** So many sessions were excluded or held for one reason. */
  | { readonly type: 'not_sent'; readonly status: 'excluded' | 'held'; readonly why: string; readonly sessions: number }
  /** The user is about to be asked. */
  | { readonly type: 'asking' }
  | Summary

export type Reporter = (event: SyncEvent) => void
