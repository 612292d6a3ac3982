import type { UpsertedMessage } from './decide.ts'
import type { MessageDocument } from './message.ts'

/** Characters that the event of a message takes besides the message. */
const EVENT_LENGTH = 200

const scalarsLength = ({ textContent = '', model = '' }: MessageDocument) => textContent.length + model.length

const lengthOf = ({ parts, ...document }: MessageDocument) =>
  parts.reduce((sum, part) => sum + part.json.length, scalarsLength({ parts, ...document }))

/** The characters of the fields and parts of `after` that differ from `before`. */
const changedLength = (before: MessageDocument, after: MessageDocument) => {
  const changed = after.parts.filter((part, i) => before.parts[i]?.json !== part.json)
  const isSame = before.textContent === after.textContent && before.model === after.model
  return lengthOf({ ...after, parts: changed }) - (isSame ? scalarsLength(after) : 0)
}

/**
 * About how many characters upserts of messages add to the log: none for one that leaves its message unchanged, or makes it
 * half as long or less, so that a namespace that is full can still shorten its messages. Upserts that count nothing halve a
 * message each time, so there are few of them in a row.
 */
export const growthOf = (messages: readonly UpsertedMessage[]): number => {
  let growth = 0
  for (const { result, before, document } of messages) {
    if (result === 'unchanged') continue
    if (!before) growth += EVENT_LENGTH + lengthOf(document)
    else if (2 * lengthOf(document) > lengthOf(before)) growth += EVENT_LENGTH + changedLength(before, document)
  }
  return growth
}
