import { shortTime } from '../cli/short-time.ts'
import type { FeedTraceValue } from '../realtime/client/queries.ts'

const TIME = 'Feb 21, 2027, 19:41'.length

const count = (messages: number) => `${messages} ${messages === 1 ? 'message' : 'messages'}`

/** A trace of a feed on one line; `before` is what was shown of it last. */
export const traceLine = (trace: FeedTraceValue, before: FeedTraceValue | undefined): string => {
  const { title, ai_title: summaryTitle, externalId, messageCount = 0, visibility, updatedAt, createdAt } = trace
  const added = messageCount - (before?.messageCount ?? messageCount)
  const time = shortTime(updatedAt ?? createdAt).padEnd(TIME)
  const messages = `${count(messageCount)}${added > 0 ? ` (+${added})` : ''}`
  return `${time} ${externalId}  ${messages}  ${visibility}  ${title ?? summaryTitle ?? ''}`.trimEnd()
}

/** Whether a line about a trace would say something else than before. */
export const isOther = (trace: FeedTraceValue, before: FeedTraceValue | undefined): boolean =>
  before === undefined ||
  (['title', 'ai_title', 'messageCount', 'visibility', 'updatedAt'] as const).some(
    (name) => trace[name] !== before[name],
  )
