import { rawItems, rawMembers } from '../../base/json/raw-values.ts'

const MOST_CHARACTERS = 64 * 1024
/** Deeper values stay on one line, else indentation would be most of the text. */
const MOST_LEVELS = 12

const isNested = (json: string) => json.startsWith('{') || json.startsWith('[')

const indented = (json: string, level: number): string => {
  if (!isNested(json) || level >= MOST_LEVELS) return json
  const items = json.startsWith('{')
    ? [...rawMembers(json)].map(({ key, value }) => `${JSON.stringify(key)}: ${indented(value, level + 1)}`)
    : [...rawItems(json)].map((item) => indented(item, level + 1))
  if (items.length === 0) return json
  const [open, close] = [json[0]!, json.at(-1)!]
  const indent = '  '.repeat(level + 1)
  return `${open}\n${items.map((item) => `${indent}${item}`).join(',\n')}\n${'  '.repeat(level)}${close}`
}

/** JSON text on several lines, its numbers and the order of its keys as they are. Very long text stays as it is. */
export const indentedJson = (json: string): string => (json.length > MOST_CHARACTERS ? json : indented(json, 0))
