/** One part of a message, as the API takes it. `args` keeps the order of keys and exact numbers (`json.ts`). */
export type Part =
  | { readonly type: 'text' | 'thinking'; readonly content: { readonly text: string } }
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
 * One message of a session. `externalId` is the same each time the file is read. `order` is the number of the message's first
 * line, which stays the same when the file grows. `timestamp` is in milliseconds.
 */
export type SessionMessage = {
  readonly externalId: string
  readonly role: 'user' | 'assistant' | 'system'
  readonly model?: string
  readonly order: number
  readonly timestamp?: number
  readonly parts: readonly Part[]
}

/** The fields of a session's trace, as far as the session file holds them. */
export type TraceFields = {
  readonly agentId: string
  readonly title?: string
  readonly projectPath?: string
  readonly projectName?: string
  readonly model?: string
  readonly gitBranch?: string
  readonly gitRemoteUrl?: string
  readonly gitRef?: string
}

/**
 * A session file after a first reading. `messages` reads it a second time and yields each message as soon as its last line
 * was read, so that they are never all in memory; they are not sorted by `order`.
 */
export type SessionFile = {
  readonly externalId: string
  readonly trace: TraceFields
  readonly skippedLines: number
  readonly messages: () => AsyncIterable<SessionMessage>
}

/** `size` is how many bytes of the file to read; `onMalformed` gets the number of each line that is no JSON object. */
export type ReadOptions = { readonly size: number; readonly onMalformed: (line: number) => void }

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** A coding agent: where it stores its session files, and how to read them. */
export type Agent = {
  readonly id: string
  /** The version of the parser. A file is read again when it was last read with another version. */
  readonly version: number
  /** The folders that are searched by default. `home` is the user's home folder. */
  readonly roots: (env: EnvironmentVariables, home: string) => readonly string[]
  /** Whether a file in a searched folder is a session file of this agent, by its path. */
  readonly isSessionFile: (path: string) => boolean
  /** Throws what reading the file throws, but never because of its content. */
  readonly readSession: (path: string, options: ReadOptions) => Promise<SessionFile>
}
