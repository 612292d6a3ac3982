import { z } from 'zod'
import { AttributedLines, type AttributedRange, Evidence, Hunk } from '../../../contract/attribution.ts'
import { isoText } from '../../../transcript/times.ts'
import { tracePath } from '../../pages/links.ts'
import { answerFields, fitting } from '../answer.ts'
import { beginning, fields, nameText, quotesWith, sharedBy } from '../quoted.ts'
import type { Blame, Sessions } from '../sessions.ts'
import type { Tool } from '../tool.ts'

const MOST_LINES = 400
/** The most bytes of an answer: less than of other tools, because agents ask often. */
const MOST_BYTES = 8_000

const input = z.object({
  path: Hunk.shape.path.meta({ description: 'The path of the file, from the root of the repository' }),
  lines: z.array(z.string()).min(1).max(MOST_LINES).meta({ description: 'Consecutive lines of the file, as they are' }),
  from: z.int().min(1).default(1).meta({ description: 'The number of the first of these lines' }),
  repository: z.string().min(1).max(4_096).optional().meta({
    description:
      'The address of a remote of the repository. Without it only sessions count that were recorded without one',
  }),
  namespace: z.string().min(1).max(256).optional().meta({
    description: 'The slug of the namespace whose sessions are asked. Default: the one that the token is active in',
  }),
})

const { session, namespace, author, agent, role, time, message } = fields
const often = { session, author, agent, model: z.string().optional(), title: z.string().optional(), message, time }

const place = { from: z.int(), to: z.int(), evidence: Evidence }
const Often = z.object(often)
type Range = z.infer<typeof Often> & { readonly from: number; readonly to: number; readonly evidence: Evidence }

const output = z.object({
  ...answerFields,
  lines: AttributedLines,
  unknown: z.array(z.tuple([z.int(), z.int()])).meta({ description: 'First and last lines of which nothing is known' }),
  quotes: quotesWith({
    ...{ role, namespace },
    ...Often.partial().shape,
    ranges: z.array(z.object({ ...place, ...Often.partial().shape })),
  }),
})

/** How many ranges and unknown runs of lines are shown, and the most bytes of a title. */
type Level = { readonly ranges: number; readonly unknown: number; readonly title: number }
const LEVELS: readonly Level[] = [
  { ranges: 60, unknown: 60, title: 200 },
  { ranges: 30, unknown: 60, title: 100 },
  { ranges: 20, unknown: 40, title: 60 },
  { ranges: 10, unknown: 40, title: 60 },
  { ranges: 5, unknown: 20, title: 60 },
  { ranges: 1, unknown: 10, title: 60 },
]

const rangeOf = ({ start, end, evidence, ...range }: AttributedRange, title: number): Range => ({
  ...{ from: start, to: end, evidence },
  session: range.trace.externalId,
  author: nameText(range.author.displayName ?? range.author.id),
  agent: nameText(range.trace.agentId),
  ...(range.model === undefined ? {} : { model: nameText(range.model) }),
  ...(range.trace.title === undefined ? {} : { title: beginning(range.trace.title, title) }),
  message: range.message.externalId,
  time: isoText(range.at) ?? new Date(0).toISOString(),
})

/** What is left out from an item on, and the call that has it. */
const moreOf = (what: string, shown: number, starts: readonly number[]): string[] =>
  shown < starts.length
    ? [`${starts.length - shown} more ${what}: call blame_lines with the lines from number ${starts[shown]}.`]
    : []

const introOf = ({ replaced, run, moved, total }: Blame['lines']): string => {
  const counted = `Recorded sessions wrote ${replaced + run} of ${total} lines`
  return moved > 0 ? `${counted}; ${moved} more are like lines of another file.` : `${counted}.`
}

const answerOf = (sessions: Sessions, blame: Blame, level: Level) => {
  const { slug, ranges, unknown, lines } = blame
  const shown = ranges.slice(0, level.ranges)
  const { shared, own } = sharedBy(
    shown.map((range) => rangeOf(range, level.title)),
    Often.keyof().options,
  )
  const linkOf = ({ trace, message }: AttributedRange) =>
    `${sessions.origin}${tracePath(slug, trace.externalId, message.externalId)}`
  const links = [...new Set(shown.map(linkOf))]
  return {
    intro: introOf(lines),
    leftOut: [
      ...moreOf(
        'ranges',
        shown.length,
        ranges.map(({ start }) => start),
      ),
      ...moreOf(
        'unknown runs of lines',
        Math.min(level.unknown, unknown.length),
        unknown.map(([start]) => start),
      ),
    ],
    content: {
      lines,
      unknown: unknown.slice(0, level.unknown),
      quotes: { quoted: true as const, role: 'description' as const, namespace: slug, ...shared, ranges: own },
    },
    links: links.map((uri, i) => ({ uri, name: `call ${i + 1}` })),
    through: new Date(blame.indexedThrough).toISOString(),
  }
}

export const blameLines: Tool<typeof input, typeof output> = {
  name: 'blame_lines',
  title: 'Find out which sessions wrote lines',
  description:
    'Says which recorded sessions of coding agents wrote lines of a file, by whom and when; read_messages has the call and the prompt before it. ' +
    'Lines that people typed, or that no recorded session is known to have written, are `unknown`. The lines are compared by hashes, and kept nowhere.',
  input,
  output,
  answer: async (sessions, asked) => {
    const blame = await sessions.blame(asked)
    return fitting(LEVELS, MOST_BYTES, (level) => answerOf(sessions, blame, level))
  },
}
