import { countText } from '../../base/for-people.ts'
import { costText } from '../../base/usage-text.ts'
import { escapeLine, escapeText } from '../../transcript/markdown/safe.ts'
import { shortened } from '../../transcript/preview.ts'
import type { AttributedLines, AttributedRange } from '../api/attribution.ts'
import type { TraceDetail } from '../api/traces.ts'

/** A session that wrote lines, as a description of changes has it. */
export type DescribedSession = Pick<AttributedRange, 'trace' | 'author'> & {
  readonly url: string
  readonly lines: { readonly replaced: number; readonly run: number }
  /** The texts of the prompts, in order. */
  readonly prompts: readonly string[]
  readonly cost?: NonNullable<TraceDetail['cost']>
}

const MOST_PROMPTS = 10
const MIN_ID = 8

const linesText = (count: number): string => (count === 1 ? '1 line' : `${countText(count)} lines`)

/**
 * What code hosts act on in a description: a mention tells somebody, `fixes #12` closes an issue, an address becomes a link. An empty character, as a
 * reference, ends each.
 */
const ACTING = /@(?=\w)|#(?=\d)|\bGH-(?=\d)|!(?=\d)|:(?=\/\/)/gi

const withoutActing = (markdown: string): string => markdown.replace(ACTING, '$&&#8203;')

const inertText = (text: string): string => withoutActing(escapeText(text))

/** An address in angle brackets, which it cannot end: what a link has encoded has none. */
const linkTo = (text: string, url: string) => `[${inertText(text).replaceAll(']', '\\]')}](<${url}>)`

const sessionText = ({ trace, author, url, lines, prompts, cost }: DescribedSession): string => {
  const title = shortened(trace.title ?? 'A session without a title')
  const facts = [
    inertText(trace.agentId),
    inertText(author.displayName ?? author.id.slice(0, MIN_ID)),
    linesText(lines.replaced + lines.run),
    ...(cost === undefined ? [] : [escapeText(costText(cost))]),
  ]
  const shown = prompts.slice(0, MOST_PROMPTS).map((prompt) => `  - ${withoutActing(escapeLine(shortened(prompt)))}\n`)
  const more = prompts.length - shown.length
  return `- ${linkTo(title, url)}: ${facts.join(', ')}\n${shown.join('')}${more > 0 ? `  - and ${more} more prompts\n` : ''}`
}

/**
 * A description of changes in Markdown: which sessions wrote which share of the added lines, with their prompts. No text of a session becomes markup in it, or does something on a code host.
 */
export const descriptionOf = ({
  sessions,
  lines: { total, weak, replaced, run, moved, unknown },
  commits,
}: {
  readonly sessions: readonly DescribedSession[]
  readonly lines: AttributedLines
  readonly commits: number
}): string => {
  const head = `Of ${linesText(total)} added in ${commits === 1 ? '1 commit' : `${countText(commits)} commits`}, sessions of coding agents wrote ${countText(replaced + run)}.`
  const rows = Object.entries({ replaced, run, moved, unknown, weak })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `| ${name} | ${countText(count)} |\n`)
  const table = rows.length === 0 ? '' : `\n| Evidence | Lines |\n|---|---:|\n${rows.join('')}`
  const list = sessions.length === 0 ? '' : `\n${sessions.map(sessionText).join('')}`
  return `## Sessions\n\n${head}\n${list}${table}`
}
