import type { CallToolResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { escapeControls } from '../cli/escape.ts'
import { cutText } from './quoted.ts'

/** What the answers of all tools have. */
export const answerFields = {
  leftOut: z.array(z.string()).meta({ description: 'What the answer leaves out, and how to get it' }),
  indexedThrough: z.string().meta({ description: 'Everything that was written before this time is considered' }),
}

/** A page of the service that an answer names. */
export type Link = { readonly uri: string; readonly name: string }

/** What a tool answers. `said` and `leftOut` are words of this server; `quotes` are objects of the content, in the order of their importance. */
export type Answer<Content extends object = object> = {
  readonly said: string
  readonly leftOut: readonly string[]
  readonly content: Content
  readonly quotes: readonly object[]
  readonly links: readonly Link[]
  /** Up to when everything is considered. Default: the time of the question. */
  readonly through?: string
}

const MOST_TEXT = 8_000
const MOST_LINKS = 40

/** As many lines as fit into so many bytes. */
const fitting = (lines: readonly string[], most: number): readonly string[] => {
  let bytes = 0
  const end = lines.findIndex((line) => (bytes += Buffer.byteLength(line) + 1) > most)
  return end === -1 ? lines : lines.slice(0, end)
}

/** What other calls need is never cut. */
const WHOLE = new Set(['session', 'message', 'time'])

/** So many bytes of each text are shown where all of them would be too much. */
const LENGTHS = [Infinity, 4_000, 2_000, 1_000, 500, 250] as const

/** A quotation on a line, with at most so many bytes of each of its texts. */
const lineOf = (quote: object, most: number): string => {
  const shown = Object.entries(quote).map(([name, value]: [string, unknown]) => {
    if (typeof value !== 'string' || value.length <= most / 4 || WHOLE.has(name)) return [name, value]
    const { text, end } = cutText(value, 0, most)
    return [name, end < value.length ? `${text}…` : value]
  })
  return escapeControls(JSON.stringify(Object.fromEntries(shown)))
}

/** First what the answer is, then what was left out, then the quotations, shortened as far as it takes to have them all. */
export const textOf = ({ said, leftOut, quotes }: Pick<Answer, 'said' | 'leftOut' | 'quotes'>): string => {
  const head = [said, ...leftOut.map((one) => `Left out: ${one}`)]
  const note = (count: number) =>
    `This text has ${count} of ${quotes.length} quotations, shortened. structuredContent has them all; ask for less to read them here.`
  const room = MOST_TEXT - Buffer.byteLength([...head, note(quotes.length)].join('\n'))
  for (const most of LENGTHS) {
    const lines = quotes.map((quote) => lineOf(quote, most))
    const shown = fitting(lines, room)
    if (shown.length < lines.length && most !== LENGTHS.at(-1)) continue
    return [...head, ...(most === Infinity ? [] : [note(shown.length)]), ...shown].join('\n')
  }
  throw new Error('there is a shortest length')
}

/** The result of a call: a text for readers of text, links, and the content as it is described by the schema of the tool. */
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
