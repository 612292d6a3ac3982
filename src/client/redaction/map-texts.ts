import type { Part, SessionMessage, SessionFields } from '../agents/agent.ts'

const isRaw = (value: unknown): boolean => (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON(value)

/**
 * Returns the new text for a place, such as `parts/2/args/env/TOKEN` or `title`. `name` is the name of which the text is the value;
 * undefined for keys.
 */
export type MapText = (text: string, where: string, name: string | undefined) => string

/** The name of a value where it is stored beside it, as in `{ name: 'TOKEN', value: '…' }`. */
const nameBeside = (entries: readonly (readonly [string, unknown])[]): string | undefined =>
  entries.flatMap(([key, item]) => (/^(?:name|key|variable)$/i.test(key) && typeof item === 'string' ? [item] : []))[0]

/** A value with all texts and keys mapped; the same object where nothing changes. */
const mapTexts = (value: unknown, where: string, map: MapText, name?: string): unknown => {
  if (typeof value === 'string') return map(value, where, name)
  if (typeof value !== 'object' || value === null || isRaw(value)) return value
  let isChanged = false
  const mapped = (item: unknown, key: string | number, name: string | undefined) => {
    const result = mapTexts(item, `${where}/${key}`, map, name)
    isChanged ||= result !== item
    return result
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => mapped(item, index, name))
    return isChanged ? items : value
  }
  const entries = Object.entries(value)
  const newEntries = entries.map(([key, item]) => {
    const newKey = map(key, `${where}/key`, undefined)
    isChanged ||= newKey !== key
    const name = /^value$/i.test(key) ? (nameBeside(entries) ?? key) : key
    return [newKey, mapped(item, newKey, name)] as const
  })
  return isChanged ? Object.fromEntries(newEntries) : value
}

type MapPart = (text: string, place: Place) => string

/** The place of a text in a message. `isEnv`: its call reads or writes an environment file. */
export type Place = { readonly where: string; readonly name: string | undefined; readonly isEnv: boolean }

/** Replaces a part that is nested too deeply to be searched. */
const TOO_DEEP: Part = { type: 'error', content: { message: 'left out: nested too deeply to be searched for secrets' } }

export const mapPart = (part: Part, where: string, map: MapText): Part => {
  try {
    const content = mapTexts(part.content, where, map)
    return content === part.content ? part : ({ ...part, content } as Part)
  } catch (error) {
    if (error instanceof RangeError) return TOO_DEEP
    throw error
  }
}

export const mapMessage = (
  message: SessionMessage,
  isEnvPart: (part: Part) => boolean,
  map: MapPart,
): SessionMessage => {
  const parts = message.parts.map((part, i) => {
    const isEnv = isEnvPart(part)
    return mapPart(part, `parts/${i}`, (text, where, name) => map(text, { where, name, isEnv }))
  })
  return parts.every((part, i) => part === message.parts[i]) ? message : { ...message, parts }
}

export const mapFields = (fields: SessionFields, map: MapText): SessionFields =>
  mapTexts(fields, 'trace', (text, where, name) => map(text, where.slice('trace/'.length), name)) as SessionFields
