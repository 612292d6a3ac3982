import stringWidth from 'string-width'
import { exitCodes } from '../cli/exit.ts'
import { fitToColumns } from '../cli/fit-to-columns.ts'
import { io } from '../cli/io.ts'
import { type Line, printDocument, say, shownLine } from '../cli/output.ts'
import { openScreen } from '../cli/pager.ts'
import type { AttributedRange } from '../client/api/attribution.ts'
import { traceLink } from '../client/api/trace-link.ts'
import { countLines } from '../client/attribution/counted.ts'
import { isAskable } from '../client/attribution/hunks.ts'
import { locateLines, type Place } from '../client/attribution/locate.ts'
import { knownOf, type LocatedLine, type Span, spansOf } from '../client/attribution/today.ts'
import type { Access } from './support/access.ts'
import { type Attribution, type AttributionOptions, openAttribution, sayIfShallow } from './support/attribution.ts'
import { namedLines, placeOf } from './support/file-lines.ts'
import { authorName, shortest } from './support/short-ids.ts'

type Options = AttributionOptions & { readonly at?: string; readonly pager: boolean }

/** What is known of lines of a file. */
export type Blamed = {
  readonly path: string
  readonly lines: readonly LocatedLine[]
  readonly known: ReturnType<typeof knownOf>
}

/** Finds out where lines of a file come from, and asks for their hunks: only for the parts that have one of the lines. */
export const blameLines = async (attribution: Attribution, place: Place): Promise<Blamed> => {
  const { repository, lineOf, ask } = attribution
  sayIfShallow(attribution)
  if (!isAskable(place.path)) say('A path with a backslash cannot be asked for: all its lines are unknown.')
  const { lines, hunks } = await locateLines(repository, place, lineOf)
  const wanted = hunks.map((): number[] => [])
  for (const { added } of lines) if (added) wanted[added.hunk]!.push(added.line)
  const isWanted = (of: number, first: number, last: number) =>
    wanted[of]!.some((line) => first <= line && line <= last)
  return { path: place.path, lines, known: knownOf(lines, await ask(hunks, { isWanted })) }
}

/** The link to the message that has the call of a range. */
export const linkOf = ({ server, slug }: Pick<Attribution, 'server' | 'slug'>, { trace, message }: AttributedRange) =>
  traceLink(server, slug, trace.externalId, message.externalId)

const printSpans = async (attribution: Attribution, { path, lines, known }: Blamed): Promise<void> => {
  for (const { start, end, commit, range } of spansOf(lines, known)) {
    const place = { path, start, end, ...(commit === undefined ? {} : { commit }) }
    if (!range) await printDocument({ type: 'unknown', ...place })
    else {
      const { evidence, trace, message, callId, author, model, at } = range
      const by = { evidence, trace, message, callId, author, ...(model === undefined ? {} : { model }), at }
      await printDocument({ type: 'range', ...place, ...by, url: linkOf(attribution, range) })
    }
  }
  await printDocument({ type: 'lines', ...countLines(known) })
}

const WIDEST = [8, 20, 16, 40]
const GAP = '  '
const TAB = '    '
const UNKNOWN = ['-', '', '', '']

/** What stands before a line, each in its column: evidence, author, agent, the beginning of the id of the session. */
const cellsOf = ({ range }: Span, idLength: number): string[] => {
  if (!range) return UNKNOWN
  const { evidence, author, trace } = range
  const cells = [evidence, authorName(author), trace.agentId, trace.externalId.slice(0, idLength)]
  return cells.map((cell, i) => fitToColumns(cell, WIDEST[i]!))
}

const padded = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - stringWidth(text)))

/** Each line, after columns that say who wrote it. What counts as written by a session is marked, what is unknown is dim. */
const blameText = ({ lines, known }: Blamed): Line[] => {
  const spans = spansOf(lines, known)
  const idLength = shortest(spans.flatMap(({ range }) => range?.trace.externalId ?? []))
  const rows = spans.map((span) => cellsOf(span, idLength))
  const widths = UNKNOWN.map((_, i) => Math.max(...rows.map((cells) => stringWidth(cells[i]!))))
  const digits = String(lines.at(-1)?.line ?? 0).length
  let at = 0
  return lines.map(({ line, text }) => {
    if (spans[at]!.end < line) at += 1
    const { range } = spans[at]!
    const head = rows[at]!.flatMap((cell, i) => (widths[i]! > 0 ? [padded(cell, widths[i]!)] : [])).join(GAP)
    const shown = `${head}${GAP}${String(line).padStart(digits)}) ${text.replace(/\r$/, '').replaceAll('\t', TAB)}`
    if (!range) return { text: shown, style: 'dim' }
    return { text: shown, ...(range.evidence === 'moved' ? {} : { marks: [[0, head.length]] }) }
  })
}

/** Says for each line of a file which session wrote it. */
export const blame = async (access: Access, options: Options, file: string): Promise<number> => {
  const named = await namedLines(file, options.at !== undefined)
  const attribution = await openAttribution(access, options, named.folder)
  const place = await placeOf(attribution.repository, named, options.at)
  const blamed = await blameLines(attribution, place)
  if (place.mayBeBinary && blamed.lines.some(({ text }) => text.includes('\0')))
    throw new Error(`"${named.name}" is a binary file.`)
  if (options.json) await printSpans(attribution, blamed)
  else {
    const screen = openScreen({ usesPager: options.pager })
    try {
      await screen.print(
        blameText(blamed)
          .map((line) => shownLine(line, io().stdout))
          .join(''),
      )
    } finally {
      await screen.end()
    }
  }
  return exitCodes.ok
}
