import type { CallToolResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { escapeControlsInLines } from '../../base/escape.ts'

/** The fields that the answer of every tool has, before all others. */
export const answerFields = {
  answer: z.string().meta({ description: 'What this is, in a sentence' }),
  leftOut: z.array(z.string()).meta({ description: 'What the answer leaves out, and how to get it' }),
  indexedThrough: z.string().meta({ description: 'Everything that was written before this time is considered' }),
}
export type AnswerField = keyof typeof answerFields

/** A page of the service that an answer names. */
type Link = { readonly uri: string; readonly name: string }

/** The content of an answer: `quotes` has all that was written in sessions, the other fields are the server's own. */
type Content = { readonly quotes: object }

/** The answer of a tool. `intro` and `leftOut` are words of this server; the most important links come first. */
export type Answer<Of extends Content = Content> = {
  readonly intro: string
  readonly leftOut: readonly string[]
  readonly content: Of
  readonly links: readonly Link[]
  /** The time up to which everything is considered. Default: the time of the call. */
  readonly through?: string
}

/** The most links of an answer, and the most bytes of their addresses: an id may have 1 kB, and three times that in an address. */
const MOST_LINKS = 10
const MOST_LINK_BYTES = 2_000

const linksOf = ({ links }: Pick<Answer, 'links'>) => {
  let bytes = 0
  return links
    .filter(({ uri }) => (bytes += Buffer.byteLength(uri)) <= MOST_LINK_BYTES)
    .slice(0, MOST_LINKS)
    .map(({ uri, name }) => ({ type: 'resource_link' as const, uri, name, mimeType: 'text/html' }))
}

/** JSON with each entry of a list on a line of its own: a client that shortens a text by its lines leaves whole ones. */
const inLines = (object: object): string => {
  const valueOf = (value: unknown): string =>
    Array.isArray(value) && value.length > 0
      ? `[\n${value.map((one) => JSON.stringify(one)).join(',\n')}\n]`
      : JSON.stringify(value)
  const fields = Object.entries(object).filter(([, value]) => value !== undefined)
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${valueOf(value)}`).join(',')}}`
}

/** All that the structured form says, as a text: sentences, then the server's values as JSON on one line, then the quotations as JSON. */
const textOf = ({ intro, leftOut, content: { quotes, ...values } }: Answer, indexedThrough: string): string => {
  const sentences = [intro, ...leftOut.map((one) => `Left out: ${one}`)]
  return escapeControlsInLines(
    [...sentences, JSON.stringify({ indexedThrough, ...values }), inLines(quotes)].join('\n'),
  )
}

/** The result of a call, in two forms that say the same, because clients hand on one of them: a text, and content in the form of the tool's output schema; and links. */
export const resultOf = (answer: Answer, now: string) => {
  const { intro, leftOut, content, through = now } = answer
  const { quotes, ...values } = content
  return {
    content: [{ type: 'text', text: textOf(answer, through) }, ...linksOf(answer)],
    structuredContent: { answer: intro, leftOut: [...leftOut], indexedThrough: through, ...values, quotes },
  } satisfies CallToolResult
}

/** The most bytes of an answer as a client gets it, in each of its forms: of `read_messages`, and of other tools unless they were asked for more than by default. */
export const MOST_READ = 40_000
export const MOST_OTHERWISE = 12_000

const SOME_TIME = new Date(0).toISOString()

/** The bytes of the larger form of an answer, with its links, in the JSON that a client gets. */
const bytesOf = (answer: Answer): number => {
  const { content, structuredContent } = resultOf(answer, SOME_TIME)
  const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
  return Math.max(bytes(content), bytes(structuredContent) + bytes(content.slice(1)))
}

/** The answer at the first of the levels, which go from much to little, at which it has at most `most` bytes; else that at the last one. */
export const fitting = <Level, Fits extends Answer>(
  levels: readonly Level[],
  most: number,
  answerAt: (level: Level) => Fits,
): Fits => {
  const [level, ...others] = levels
  const answer = answerAt(level!)
  return others.length === 0 || bytesOf(answer) <= most ? answer : fitting(others, most, answerAt)
}

/** Reads again with half the limit until the answer has at most `most` bytes: so its cursor is that of what it shows. */
export const withFewer = async <Page, Fits extends Answer>(
  limit: number,
  most: number,
  read: (limit: number) => Promise<Page>,
  answerOf: (page: Page, limit: number) => Fits,
): Promise<Fits> => {
  const answer = answerOf(await read(limit), limit)
  return limit <= 1 || bytesOf(answer) <= most ? answer : withFewer(Math.floor(limit / 2), most, read, answerOf)
}
