import type { Steps } from '../../base/json/steps.ts'
import { type Message, readMessage } from '../../transcript/message.ts'
import type { SessionName, Sessions } from './sessions.ts'

/** The most messages, and characters of them, that are read for one answer. */
const MOST_MESSAGES = 50_000
const MOST_CHARACTERS = 64 * 1024 * 1024

/** Runs work step by step, in turns with other work. */
const inTurns = async <Result>({ turn }: Pick<Sessions, 'turn'>, work: Steps<Result>): Promise<Result> => {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    const wait = turn()
    if (wait) await wait
  }
}

/** A message with its time: its own, else that of its arrival. */
export type TimedMessage = Message & { readonly timestamp: number }

export const readTimed = async (
  sessions: Pick<Sessions, 'turn'>,
  { json, createdAt }: { readonly json: string; readonly createdAt: number },
): Promise<TimedMessage> => {
  const message = await inTurns(sessions, readMessage(json))
  return { ...message, timestamp: message.timestamp ?? createdAt }
}

/** Calls `each` with each message of a session, in order. @returns false if the session has more messages than are read */
export const readAll = async (
  sessions: Sessions,
  name: SessionName,
  each: (message: TimedMessage) => Steps<void>,
): Promise<boolean> => {
  let [count, characters] = [0, 0]
  for await (const stored of sessions.allMessages(name)) {
    if (count >= MOST_MESSAGES || characters > MOST_CHARACTERS) return false
    count += 1
    characters += stored.json.length
    await inTurns(sessions, each(await readTimed(sessions, stored)))
  }
  return true
}

/** The note in an answer about a session that was not read to its end. */
export const NOT_WHOLE = 'the end of the session, which is too long to be read at once: call read_messages for it.'
