/** One part of a message, in the shape the service stores. `args` keeps key order and exact numbers. */
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
 * One message of a session. `externalId` stays the same over re-reads; `order` is the number of the line that the message
 * starts on, so that it stays when the file grows; `timestamp` is in milliseconds. The text lives in the parts only.
 */
export type SessionMessage = {
  readonly externalId: string
  readonly role: 'user' | 'assistant' | 'system'
  readonly model?: string
  readonly order: number
  readonly timestamp?: number
  readonly parts: readonly Part[]
}

/** What a session file says about the session itself. */
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
 * A session file that was looked through once. `messages` reads it again and yields each message as soon as it is whole:
 * never all of them are in memory, and they may come in another order than `order`.
 */
export type Session = {
  readonly externalId: string
  readonly trace: TraceFields
  readonly skippedLines: number
  readonly messages: () => AsyncIterable<SessionMessage>
}

/** `size`: how many bytes of the file to read. `malformed` is told the number of each line that is no JSON object. */
export type ReadOptions = { readonly size: number; readonly malformed: (line: number) => void }

export type Environment = Readonly<Record<string, string | undefined>>

/** One coding agent: where it keeps its session files and how they are read. */
export type Agent = {
  readonly id: string
  /** Part of the stored state: a file is read again when the parser that read it last had another version. */
  readonly version: number
  /** The folders to search when the user names none. */
  readonly roots: (env: Environment, home: string) => readonly string[]
  /** Whether a file found in a searched folder is a session file of this agent, by its name. */
  readonly owns: (path: string) => boolean
  /** Throws what reading the file throws; never because of what is in it. */
  readonly read: (path: string, options: ReadOptions) => Promise<Session>
}
