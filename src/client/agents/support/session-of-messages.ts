import type { ReadOptions, Session, SessionMessage } from '../agent.ts'
import type { Taken } from './sqlite/snapshot.ts'
import { newOutline, type Outline } from './trace-fields.ts'
import { newUnknownKinds } from './unknown-kinds.ts'

/** Called with the number of each message, or part of one, that cannot be read. */
export type OnDamaged = ReadOptions['onMalformed']

/** Called with each kind of a record or a part that the parser does not know, and leaves out. */
export type OnUnknown = (kind: unknown) => void

type Messages = Iterable<SessionMessage> | AsyncIterable<SessionMessage>

/** A session that has to be read as a whole each time: `first` gives its messages for the trace, `again` for everything else. */
type WholeSession = {
  readonly externalId: string
  readonly first: (onDamaged: OnDamaged, onUnknown: OnUnknown) => Messages
  readonly trace: (outline: Outline) => Session['trace'] | Promise<Session['trace']>
  readonly again: Session['messages']
}

/** Reads a session from the beginning each time, such as a session in many files or in plain text. */
export const sessionOfMessages = async (
  { externalId, first, trace, again }: WholeSession,
  onMalformed: ReadOptions['onMalformed'],
): Promise<Session> => {
  let skippedLines = 0
  const onDamaged: OnDamaged = (number) => {
    skippedLines++
    onMalformed(number)
  }
  const outline = newOutline()
  const unknown = newUnknownKinds()
  for await (const message of first(onDamaged, unknown.add)) outline.note(message)
  const leftOut = unknown.counts()
  return {
    ...{ externalId, trace: await trace(outline), skippedLines, messages: again },
    ...(leftOut.size === 0 ? {} : { leftOut }),
  }
}

/** A session in a database: `copy` copies what belongs to it into a private database, from which the messages are read. */
type CopiedSession<T> = {
  readonly externalId: string
  readonly copy: () => Promise<Taken<T>>
  readonly messages: (copied: Taken<T>, onDamaged: OnDamaged, onUnknown: OnUnknown) => Messages
  readonly trace: (outline: Outline, result: T) => Session['trace'] | Promise<Session['trace']>
}

/**
 * Reads a session of a database. The messages are read from the first copy once; each further reading copies the session again. A
 * copy is closed once its messages were read, and left to the garbage collector if they never are.
 */
export const sessionOfCopy = async <T>(
  { externalId, copy, messages, trace }: CopiedSession<T>,
  onMalformed: ReadOptions['onMalformed'],
): Promise<Session> => {
  const first = await copy()
  let unread: Taken<T> | undefined = first
  return sessionOfMessages(
    {
      externalId,
      first: (onDamaged, onUnknown) => messages(first, onDamaged, onUnknown),
      trace: (outline) => trace(outline, first.result),
      again: async function* () {
        const copied = unread ?? (await copy())
        unread = undefined
        try {
          yield* messages(
            copied,
            () => {},
            () => {},
          )
        } finally {
          copied.database.close()
        }
      },
    },
    onMalformed,
  )
}
