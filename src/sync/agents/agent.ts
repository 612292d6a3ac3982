/** One part of a message, as the API takes it. `args` keeps the order of keys and exact numbers (`support/json.ts`). */
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
 * One message of a session. `externalId` is the same each time the session is read. `order` gives its place among the
 * session's messages: it stays the same when the session grows, and may have gaps. `timestamp` is in milliseconds.
 */
export type SessionMessage = {
  readonly externalId: string
  readonly role: 'user' | 'assistant' | 'system'
  readonly model?: string
  readonly order: number
  readonly timestamp?: number
  readonly parts: readonly Part[]
}

/** The fields of a session's trace, as far as the agent stored them. */
export type TraceFields = {
  readonly agentId: string
  readonly title?: string
  readonly projectPath?: string
  readonly projectName?: string
  readonly model?: string
  readonly gitBranch?: string
  readonly gitRemoteUrl?: string
  readonly gitRef?: string
  /** The externalId of the session that started this one, of a sub-agent. */
  readonly parentExternalId?: string
}

/**
 * A session after a first reading. `messages` reads it a second time and yields each message as soon as it is complete, so
 * that they are never all in memory; they are not sorted by `order`. `again` says that it will be called once more, so that what
 * makes this cheap is kept.
 */
export type Session = {
  readonly externalId: string
  readonly trace: TraceFields
  /** The lines that could not be read; with `isResumed` without those that an earlier reading has met. */
  readonly skippedLines: number
  /** How many lines there are, where the parser understands none of them. */
  readonly unknownLines?: number
  /**
   * True when reading went on from `ReadOptions.resume`: `messages` then gives those that are new or changed since, each whole,
   * and maybe some others. `externalId` and `trace` are those of the whole session.
   */
  readonly isResumed?: boolean
  /** Whether a part of what was read earlier was not looked at since the file was written last: an edit in place may have been missed. */
  readonly isUnsure?: boolean
  /** Whether `messages` with `again` keeps them, and gives the same objects next. */
  readonly isKept?: boolean
  readonly messages: (options?: { readonly again?: boolean }) => AsyncIterable<SessionMessage>
  /**
   * The place that was reached, and what a later reading has to know of all before it. Known once `messages` has ended; undefined
   * where the session can only be read whole. Some kB, and about 11 bytes for each line and each message.
   */
  readonly resume?: () => string | undefined
}

/** A session where its agent has stored it, before it is read. */
export type StoredSession = {
  /** Tells it from all others of this machine: the path of its file; in a database the path, `#` and the session's id. */
  readonly source: string
  /** Differs once the session may have changed. Found without reading the session. */
  readonly stamp: string
  /** When it was written last, in milliseconds, where its file tells. */
  readonly writtenAt?: number
  /** Throws what reading the file throws, but never because of its content. */
  readonly read: (options: ReadOptions) => Promise<Session>
}

/**
 * `onMalformed` is told the number of each line that is no JSON object. `resume` is what an earlier `Session.resume` gave: only what
 * was added since is read, unless that text no longer fits the file, or the parser, or what was added needs what is before it.
 */
export type ReadOptions = {
  readonly onMalformed: (line: number) => void
  readonly resume?: string | undefined
}

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** A coding agent: where it stores its sessions, and how to read them. */
export type Agent = {
  /** The `agentId` of its traces. */
  readonly id: string
  /** Its name, as people know it. */
  readonly name: string
  /** The version of the parser. A session is read again when it was last read with another version. */
  readonly version: number
  /** The folders that are searched by default, or single files. `home` is the user's home folder. */
  readonly roots: (env: EnvironmentVariables, home: string) => readonly string[]
  /** Whether a folder below one of these holds no sessions, by its path from there, and is not searched by default. */
  readonly skipsFolder?: (path: string) => boolean
  /** Whether a file below one of the agent's folders holds sessions, by its path. */
  readonly isSessionFile: (path: string) => boolean
  /** How the names of its session files end, such as `.jsonl`: no other file is looked into. */
  readonly extensions: readonly string[]
  /** Whether a file in another folder is one of this agent's, by its path and the first 64 KiB of its content as text. */
  readonly recognises: (path: string, beginning: string) => boolean
  /** Whether another one of the files that were found holds the same session, and is to be read instead. */
  readonly isSuperseded?: (path: string, files: ReadonlySet<string>) => boolean
  /** For how many days the agent keeps a session to which nothing is written, by its source, before it deletes it; undefined: for ever. */
  readonly keptDays?: (env: EnvironmentVariables, home: string) => Promise<(source: string) => number | undefined>
  /** The sessions of a file: one, or many of a database. Throws what `stat`, or opening the database, throws. */
  readonly sessions: (path: string) => AsyncIterable<StoredSession>
}
