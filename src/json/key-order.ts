import jsonc from 'jsonc-parser'
import { setText } from './text.ts'

/** Keys like `0` or `17` stand first in every object, in ascending order, wherever the text had them. */
const isIndex = (key: string): boolean => /^(0|[1-9]\d{0,9})$/.test(key)

/** Whether an object may have had its keys in another order than it has now. Looks at the first key: an index leads. */
export const mayBeReordered = (value: object): boolean => {
  for (const key in value) return isIndex(key)
  return false
}

/** The members of an object as its text has them: a key that stands there twice counts where it came first, as it was last. */
const membersOf = (node: jsonc.Node): Map<string, jsonc.Node> =>
  new Map((node.children ?? []).map(({ children }) => [children![0]!.value as string, children![1]!]))

/** The text of a value when `JSON.stringify` would write another one. */
const keep = (node: jsonc.Node, value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null) return undefined
  if (node.type === 'array') {
    const items = (node.children ?? []).map((child, i) => keep(child, (value as unknown[])[i]))
    if (items.every((item) => item === undefined)) return undefined
    return kept(value, `[${items.map((item, i) => item ?? JSON.stringify((value as unknown[])[i])).join(',')}]`)
  }
  if (node.type !== 'object') return undefined
  const members = [...membersOf(node)].map(([key, child]) => {
    const member = (value as Record<string, unknown>)[key]
    return { key, member, text: keep(child, member) }
  })
  const isReordered = Object.keys(value).some((key, i) => key !== members[i]!.key)
  if (!isReordered && members.every(({ text }) => text === undefined)) return undefined
  const texts = members.map(({ key, member, text }) => `${JSON.stringify(key)}:${text ?? JSON.stringify(member)}`)
  return kept(value, `{${texts.join(',')}}`)
}

const kept = (value: object, text: string): string => {
  setText(value, text)
  return text
}

/** Notes the text of every object whose keys are in another order in `text`, and of all that hold one. */
export const keepKeyOrder = (text: string, value: unknown): void => {
  const root = jsonc.parseTree(text)
  if (root) keep(root, value)
}
