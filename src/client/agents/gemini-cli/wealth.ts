import { contentList } from '../support/gemini-content.ts'
import { isObject, type Json, objectsIn, textOf } from '../support/json.ts'

/** The calls in the content of a message, or the results. */
const inContent = (message: Json, kind: 'functionCall' | 'functionResponse'): readonly Json[] =>
  contentList(message['content']).flatMap((part) => (isObject(part[kind]) ? [part[kind]] : []))

const idsOf = (calls: readonly Json[]): readonly string[] => calls.flatMap(({ id }) => textOf(id) ?? [])

const hasResult = ({ result }: Json): boolean => result !== undefined && result !== null

/** The ids of the calls of a message, in either form (README, rule 12). */
export const callIdsIn = (message: Json): readonly string[] =>
  idsOf([...objectsIn(message['toolCalls']), ...inContent(message, 'functionCall')])

/** The ids of the calls of which a message has the result. */
export const resultIdsIn = (message: Json): readonly string[] =>
  idsOf([...objectsIn(message['toolCalls']).filter(hasResult), ...inContent(message, 'functionResponse')])

/** How much a version of a message says: the numbers of its calls, results, characters and thoughts, and whether it has a model and tokens. */
export type Wealth = readonly number[]

export const wealthOf = (message: Json): Wealth => {
  const content = contentList(message['content'])
  const texts = content.flatMap(({ text, thought }) => (thought === true ? [] : (textOf(text) ?? [])))
  const thoughts = Math.max(
    objectsIn(message['thoughts']).length,
    content.filter((part) => part['thought'] === true).length,
  )
  return [
    new Set(callIdsIn(message)).size,
    new Set(resultIdsIn(message)).size,
    texts.join('').length,
    thoughts,
    textOf(message['model']) === undefined ? 0 : 1,
    isObject(message['tokens']) ? 1 : 0,
  ]
}

/** Whether a version says more than another one: the first number that differs decides, so that a call counts more than a text. */
export const isWealthier = (one: Wealth, other: Wealth): boolean => {
  const at = one.findIndex((number, index) => number !== other[index])
  return at !== -1 && one[at]! > other[at]!
}
