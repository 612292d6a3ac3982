import type { ConnectionState } from '../api/retry.ts'
import type { Visibility } from '../upload/upsert-trace.ts'

/**
 * The result for one session. `deleted`: its trace was deleted on the service, so it is left alone; `excluded`: it is not
 * to be sent; `held`: it is sent once the user agrees.
 */
export type FileStatus = 'synced' | 'unchanged' | 'empty' | 'deleted' | 'excluded' | 'held' | 'failed'

/**
 * The number of messages that the server stored, or, in a dry run, that would be sent, and how many were new or updated. The
 * others the server has already.
 */
export type Tally = { readonly messages: number; readonly new: number; readonly updated: number }

/** The counts of a run: sessions by their status, then messages, lines, and secrets. */
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
  /** Of how many lines something was not read, and how many bytes, as far as that is known. */
  readonly skippedLines: number
  readonly skippedBytes: number
  /** How many lines, records and blocks were left out, because their kinds are not known. */
  readonly unknownParts: number
  readonly leftOutMessages: number
  /** How many secrets were taken out of what was sent. */
  readonly redacted: number
  /** How many sessions had sent a secret before it was known as one: the histories of their traces keep it. */
  readonly exposed: number
  /** Why the run ended early. */
  readonly stopped?: string
  readonly exitCode: number
}

/** One session of a run. Its title and its destination are known once it has been read. */
export type SessionEvent = Tally & {
  readonly type: 'session'
  readonly file: string
  readonly externalId?: string
  readonly status: FileStatus
  /** Why it is excluded or held. */
  readonly why?: string
  readonly title?: string
  /** The name of its project, else the project's folder. */
  readonly project?: string
  /** The slug of the namespace that it goes to. */
  readonly namespace?: string
  /** Who may read the trace after the run. */
  readonly visibility?: Visibility
  /** Its trace was not public before, and is now, or would be. */
  readonly published?: true
}

/** Linked folders and files that are not searched, because they could lead to files that are not meant for upload. */
export type LeftOut = {
  readonly type: 'left_out'
  readonly folders: readonly string[]
  readonly files: readonly string[]
  readonly message: string
}

/** The events of a run, in order. `file` is a path. `--json` prints all but `progress`. */
export type SyncEvent =
  | {
      readonly type: 'start'
      readonly server: string
      readonly namespace: string
      readonly files: number
      /** The sizes of all files together. */
      readonly bytes: number
    }
  | {
      /**
       * What was done since the last such event: messages that the server has stored, and bytes of the files that were worked
       * through. Those of a file add up to its size, whatever became of its sessions.
       */
      readonly type: 'progress'
      readonly messages: number
      readonly bytes: number
    }
  /** The run was interrupted, and waits for requests in flight. */
  | { readonly type: 'stopping'; readonly message: string }
  /** `replaced`: the service lacks data that it had acknowledged. `waiting`: another process of this machine uploads. */
  | { readonly type: 'connection'; readonly state: ConnectionState | 'replaced' | 'waiting'; readonly message: string }
  | {
      readonly type: 'problem'
      readonly file: string
      /** `state_failed`: what was uploaded cannot be noted in the file, and a watch waits. */
      readonly kind:
        | 'line_skipped'
        | 'none_understood'
        | 'message_left_out'
        | 'kinds_left_out'
        | 'session_failed'
        | 'unreadable'
        | 'secret_in_history'
        | 'state_failed'
      readonly line?: number
      /** How many bytes of the line are left out, if that is known. */
      readonly bytes?: number
      /** How many parts of a session are left out because of their kinds, and these kinds. */
      readonly parts?: number
      readonly kinds?: readonly string[]
      readonly externalId?: string
      /** The title of the session, if it is known. */
      readonly title?: string
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
  | {
      readonly type: 'notice'
      readonly file: string
      readonly externalId?: string
      readonly title?: string
      readonly message: string
    }
  | SessionEvent
  | LeftOut
  /** How many sessions were excluded or held for one reason. */
  | { readonly type: 'not_sent'; readonly status: 'excluded' | 'held'; readonly why: string; readonly sessions: number }
  /** The user is about to be asked. */
  | { readonly type: 'asking' }
  | Summary

export type Reporter = (event: SyncEvent) => void
