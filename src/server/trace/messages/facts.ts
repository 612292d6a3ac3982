import { hash } from 'node:crypto'
import type { Part } from '../../../contract/message.ts'
import { type Edit, editsOf, linesOfEdit } from '../../../transcript/edits.ts'

/** What the shape of a session needs to know about a part: that it is a text that is not blank, a call, a result or an error. Other parts have no fact. */
export type Fact =
  | { readonly is: 'text' | 'error' }
  | { readonly is: 'call'; readonly id: string; readonly edit?: CallEdit }
  | { readonly is: 'result'; readonly id: string; readonly hasFailed: boolean }

/** How many lines a call adds and removes, and hashes of the paths of the files that it changes. */
export type CallEdit = { readonly added: number; readonly removed: number; readonly files: readonly string[] }

/** How many different files of a call are recorded. */
const MOST_FILES = 200

const hashOf = (text: string, length: number) => hash('sha256', text, 'base64url').slice(0, length)

/** The id of a call, if it has the characters and length of an agent's id, otherwise its hash. */
const idWord = (id: string): string => (/^[\w:.-]{1,40}$/.test(id) ? id : `#${hashOf(id, 16)}`)

const editWords = (edits: readonly Edit[]): string => {
  if (edits.length === 0) return ''
  let [added, removed] = [0, 0]
  const files = new Set<string>()
  for (const edit of edits) {
    const lines = linesOfEdit(edit)
    added += lines.added
    removed += lines.removed
    if (edit.path !== undefined && files.size < MOST_FILES) files.add(hashOf(edit.path, 8))
  }
  return ['', added, removed, ...files].join()
}

/** The fact of a part as a word, like `tText` without the text: see `factIn`. @param tool the normalised name of a call's tool */
export const factOf = (part: Part, tool: string): string | undefined => {
  switch (part.type) {
    case 'text':
      return (part.content?.text ?? '').trim() === '' ? undefined : 't'
    case 'thinking':
      return undefined
    case 'tool_call':
      return `c${idWord(part.content?.callId ?? '')}${editWords(editsOf(tool, part.content?.args ?? {}))}`
    case 'tool_result':
      return part.content && `${part.content.status === 'error' ? 'f' : 'r'}${idWord(part.content.callId)}`
    case 'error':
      return 'e'
  }
}

const factIn = (word: string): Fact => {
  const rest = word.slice(1)
  if (word.startsWith('t')) return { is: 'text' }
  if (word.startsWith('e')) return { is: 'error' }
  if (!word.startsWith('c')) return { is: 'result', id: rest, hasFailed: word.startsWith('f') }
  const [id, added, removed, ...files] = rest.split(',') as [string, string | undefined, ...string[]]
  if (added === undefined) return { is: 'call', id }
  return { is: 'call', id, edit: { added: Number(added), removed: Number(removed), files } }
}

/** The most characters of a message's facts; the rest is ignored. Enough for 2,000 calls that each change a file. */
export const MOST_FACTS = 150_000

/** The words of a message's facts, one or none for each part, up to `MOST_FACTS` characters. */
const countedWords = (words: readonly (string | undefined)[]): [index: number, word: string][] => {
  const counted: [number, string][] = []
  let length = 0
  for (const [index, word] of words.entries()) {
    if (word === undefined) continue
    length += word.length + String(index).length + 1
    if (length >= MOST_FACTS) break
    counted.push([index, word])
  }
  return counted
}

/** The facts of the parts of a message from their words. */
export const factsIn = (words: readonly (string | undefined)[]): Fact[] =>
  countedWords(words).map(([, word]) => factIn(word))

/** The facts of the parts of a message as a line: the index of each part, directly followed by its word. Undefined if there are no facts. */
export const factsLine = (words: readonly (string | undefined)[]): string | undefined =>
  countedWords(words)
    .map(([index, word]) => `${index}${word}`)
    .join(' ') || undefined

const wordsOf = (line: string | null): string[] => {
  const words = line === null ? [] : line.split(' ')
  // If the line was cut, its last word may be incomplete.
  return line !== null && line.length >= MOST_FACTS ? words.slice(0, -1) : words
}

/**
 * The facts of a message with `partCount` parts, in the order of the parts. `line` has the facts of the original parts, `changed` those of
 * changed parts, in which a part without a fact is its index alone.
 */
export const factsOf = (line: string | null, changed: string | null, partCount: number): Fact[] => {
  const words = new Map<number, string>()
  for (const word of [...wordsOf(line), ...wordsOf(changed)]) {
    const index = Number.parseInt(word)
    if (index < partCount) words.set(index, word.slice(String(index).length))
  }
  const facts = [...words].filter(([, word]) => word !== '')
  if (changed !== null) facts.sort(([a], [b]) => a - b)
  return facts.map(([, word]) => factIn(word))
}
