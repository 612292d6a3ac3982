import type { CallToolResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { escapeControls } from '../../base/escape.ts'
import { cutText } from './quoted.ts'

/** The fields that the answer of every tool has. */
export const answerFields = {
  leftOut: z.array(z.string()).meta({ description: 'What the answer leaves out, and how to get it' }),
  indexedThrough: z.string().meta({ description: 'Everything that was written before this time is considered' }),
}

/** A page of the service that an answer names. */
type Link = { readonly uri: string; readonly name: string }

/** The answer of a tool. `intro` and `leftOut` are words of this server; `quotes` are objects of the content, the most important first. */
export type Answer<Content extends object = object> = {
  readonly intro: string
  readonly leftOut: readonly string[]
  readonly content: Content
  readonly quotes: readonly object[]
  readonly links: readonly Link[]
  /** The time up to which everything is considered. Default: the time of the call. */
  readonly through?: string
}

/** The most bytes of the text of an answer, and the most links. */
const MOST_TEXT = 8_000
const MOST_LINKS = 40

/** The first lines, as many as fit into `most` bytes. */
const fitting = (lines: readonly string[], most: number): readonly string[] => {
  let bytes = 0
  const end = lines.findIndex((line) => (bytes += Buffer.byteLength(line) + 1) > most)
  return end === -1 ? lines : lines.slice(0, end)
}

/** The fields that are never shortened, because other calls need them. */
const WHOLE = new Set(['session', 'namespace', 'message', 'time'])

/** The lengths in bytes to which texts are shortened, one after the other until all quotations fit. */
const LENGTHS = [Infinity, 4_000, 2_000, 1_000, 500, 250] as const

/** A quotation as JSON on one line, with at most `most` bytes of each of its texts. */
const lineOf = (quote: object, most: number): string => {
  const shown = Object.entries(quote).map(([name, value]: [string, unknown]) => {
    if (typeof value !== 'string' || value.length <= most / 4 || WHOLE.has(name)) return [name, value]
    const { text, end } = cutText(value, 0, most)
    return [name, end < value.length ? `${text}…` : value]
  })
  return escapeControls(JSON.stringify(Object.fromEntries(shown)))
}

/** The text of an answer: the introduction, what was left out, and the quotations, shortened as far as needed to fit them all. */
export const textOf = ({ intro, leftOut, quotes }: Pick<Answer, 'intro' | 'leftOut' | 'quotes'>): string => {
  const head = [intro, ...leftOut.map((one) => `Left out: ${one}`)]
  const note = (count: number) =>
    `This text has ${count} of ${quotes.length} quotations, shortened. structuredContent has them all; ask for less to read them here.`
  const room = MOST_TEXT - Buffer.byteLength([...head, note(quotes.length)].join('\n'))
  for (const most of LENGTHS) {
    const lines = quotes.map((quote) => lineOf(quote, most))
    const shown = fitting(lines, room)
    if (shown.length < lines.length && most !== LENGTHS.at(-1)) continue
    return [...head, ...(most === Infinity ? [] : [note(shown.length)]), ...shown].join('\n')
  }
  throw new Error('LENGTHS is empty')
}

/** The result of a call: the answer as a text, links, and the content in the form of the tool's output schema. */
export const resultOf = (answer: Answer, through: string): CallToolResult => {
  const { leftOut, content, links } = answer
  return {
    content: [
      { type: 'text', text: textOf(answer) },
      ...links
        .slice(0, MOST_LINKS)
        .map(({ uri, name }) => ({ type: 'resource_link' as const, uri, name, mimeType: 'text/html' })),
    ],
    structuredContent: { ...content, leftOut: [...leftOut], indexedThrough: answer.through ?? through },
  }
}
