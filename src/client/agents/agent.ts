import type { Usage } from '../../contract/usage.ts'

/** One part of a message, in the form of the API. `args` keeps the order of keys and exact numbers (`support/json.ts`). */
export type Part =
  | { readonly type: 'text'; readonly content: { readonly text: string } }
  | { readonly type: 'thinking'; readonly content: { readonly text: string; readonly durationMs?: number } }
  | {
      readonly type: 'tool_call'
      readonly content: {
        readonly callId: string
        readonly toolName: string
        readonly args: Readonly<Record<string, unknown>>
      }
    }
  | {
      readonly type: 'tool_result'
      readonly content: {
        readonly callId: string
        readonly toolName: string
        readonly output: string
        readonly status: 'success' | 'error'
      }
    }
  | { readonly type: 'error'; readonly content: { readonly message: string } }

/**
 * One message of a session. `externalId` is the same each time that the session is read. `order` sorts the messages of the session:
 * it does not change when the session grows, and may have gaps. `timestamp` is in milliseconds.
 */
export type SessionMessage = {
  readonly externalId: string
  readonly role: 'user' | 'assistant' | 'system'
  readonly model?: string
  readonly order: number
  readonly timestamp?: number
  /** What the answer has used. */
  readonly usage?: Usage
  readonly parts: readonly Part[]
}

/** The fields of a session's trace, without those that the agent has not stored. */
export type SessionFields = {
  readonly agentId: string
  readonly title?: string
  readonly projectPath?: string
  readonly projectName?: string
  readonly model?: string
  readonly gitBranch?: string
  readonly gitRemoteUrl?: string
  readonly gitRef?: string
  /** The externalId of the session that this one comes from: it started this one, or this one goes on with its conversation. */
  readonly parentExternalId?: string
  /** The id of the call, in that session, that started this one. */
  readonly parentCallId?: string
  /** How it comes from that session, unless a call started it. */
  readonly parentKind?: 'fork' | 'resume'
}

/**
 * A session after a first reading. `messages` reads it a second time and yields each message as soon as it is complete, so that
 * they are never all in memory. They are not sorted by `order`. With `again` the caller announces one more call, for which a small
 * session keeps its messages.
 */
export type Session = {
  readonly externalId: string
  readonly trace: SessionFields
  /** Fields that stand for better ones that are not known any more: a trace that has such a field keeps it. */
  readonly standIns?: ReadonlySet<string>
  /** The folders in which the files of the session were begun, where there are several: what restricts their projects holds for all of it. */
  readonly folders?: readonly string[]
  /** The number of lines of which something could not be read; with `isContinued` only of those that were added. */
  readonly skippedLines: number
  /** How many lines, records and blocks of each kind were left out, because the parser does not know the kind; absent if it knows all. */
  readonly leftOut?: ReadonlyMap<string, number>
  /** The sessions whose lines are in the file of this one; absent if there are none. */
  readonly within?: readonly SessionWithin[]
  /** The number of lines, where the parser understands none of them. */
  readonly unknownLines?: number
  /**
   * True if only the lines were read that were added since `ReadOptions.goOn`: `messages` then yields the messages that are new or have changed
   * by them, each as a whole. `externalId` and `trace` are those of the whole session.
   */
  readonly isContinued?: boolean
  /** Whether `messages` with `again` keeps the messages, and yields the same objects at the next call. */
  readonly isKept?: boolean
  readonly messages: (options?: { readonly again?: boolean }) => AsyncIterable<SessionMessage>
  /** What the next reading goes on with, once `messages` has ended; undefined if it was not asked for, or the session can only be read whole. */
  readonly live?: () => LiveReading | undefined
}

/** A session in the file of another one: a sub-agent's. Its `id` is unique in the file. */
export type SessionWithin = Pick<StoredSession, 'read'> & { readonly id: string }

/** The state that the parser of an agent has at the end of what it has read. It has about 50 bytes for each message. */
export type LiveReading = object

/** A file of a session, or a session in a database. Its stamp differs once it may have changed, and is found without reading it. */
export type SourceFile = { readonly path: string; readonly stamp: string }

/** A session where its agent has stored it, before it is read. */
export type StoredSession = {
  /** Unique on this machine: the first path of its files, or in a database the path, `#` and the session's id. */
  readonly source: string
  /** Its files, by their paths. One that is gone is left out, and the messages that were in it stay uploaded. */
  readonly files: readonly SourceFile[]
  /** When it was last written, in milliseconds, where it has a file of its own. */
  readonly writtenAt?: number
  /** Throws what opening and reading the file throws, but no error because of its content. */
  readonly read: (options: ReadOptions) => Promise<Session>
}

/**
 * `onMalformed` is called with the number of each line that is not one JSON object, with how many of its bytes are lost, if that is known, and with
 * its file, if the session has several: what else the line holds is read. `goOn` asks for a `Session.live`. If it has that of an earlier
 * reading, which may be used once, only what was added since is read, unless the file before it has changed, or the added lines change what
 * was read before.
 */
export type ReadOptions = {
  readonly onMalformed: (line: number, lost?: number, path?: string) => void
  readonly goOn?: { readonly from: LiveReading | undefined } | undefined
}

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** A coding agent: where it stores its sessions, and how to read them. */
export type Agent = {
  /** The `agentId` of its traces. */
  readonly id: string
  /** Its name for people. */
  readonly name: string
  /** The version of the parser. A session that was last read with another version is read again. */
  readonly version: number
  /** The folders or files that are searched by default. `home` is the user's home folder. */
  readonly roots: (env: EnvironmentVariables, home: string) => readonly string[]
  /** Whether a folder below one of these holds no sessions, and is not searched by default. Its path is relative to the root. */
  readonly skipsFolder?: (path: string) => boolean
  /** Whether a file below one of these folders holds sessions. */
  readonly isSessionFile: (path: string) => boolean
  /** How the names of its session files end, such as `.jsonl`. Only such files are opened to recognise them. */
  readonly extensions: readonly string[]
  /** Whether a file in any other folder is one of this agent's. `beginning` is the first 64 KiB of its content as text. */
  readonly recognises: (path: string, beginning: string) => boolean
  /**
   * The one of the files that were found which has the same session, and is read instead of this one, or brings it along; undefined if this one
   * leads to its sessions.
   */
  readonly readWith?: (path: string, files: ReadonlySet<string>) => string | undefined
  /** What the names of all files of one session have, such as its id; undefined for a file that no other one goes on with. */
  readonly sessionIn?: (path: string) => string | undefined
  /**
   * Returns a function that says after how many days without a write the agent deletes a session, from its `source`; undefined if it
   * never does.
   */
  readonly keptDays?: (env: EnvironmentVariables, home: string) => Promise<(source: string) => number | undefined>
  /**
   * The sessions that a file leads to: one, which may have `others` as well, or many in a database. Throws what `stat` of the file, or opening the
   * database, throws.
   */
  readonly sessions: (path: string, others?: readonly string[]) => AsyncIterable<StoredSession>
}

/** A session that was found, and the agent that has written it. */
export type FoundSession = { readonly agent: Agent; readonly stored: StoredSession }
