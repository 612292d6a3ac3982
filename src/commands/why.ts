import { comparedLine } from '../base/compared-lines.ts'
import { exitCodes, UsageError } from '../cli/exit.ts'
import { io } from '../cli/io.ts'
import { type Line, printDocument, printLines } from '../cli/output.ts'
import { shortTime } from '../cli/time-text.ts'
import type { AttributedRange } from '../client/api/attribution.ts'
import { type Context, contextOf, type StoredMessage, textOf } from '../client/attribution/conversation.ts'
import { listCommits } from '../client/git/revisions.ts'
import { messageLines } from '../client/tail/message-lines.ts'
import { messageWidth } from '../client/tail/printers.ts'
import { blameLines, linkOf } from './blame.ts'
import type { Access } from './support/access.ts'
import { type Attribution, type AttributionOptions, openAttribution, readAroundIn } from './support/attribution.ts'
import { namedLines, placeOf } from './support/file-lines.ts'
import { authorName } from './support/short-ids.ts'

type Options = AttributionOptions & { readonly at?: string }

/** A line of a file, and the commit that it comes from. */
type Asked = {
  readonly path: string
  readonly line: number
  readonly text: string
  readonly commit: string | undefined
}

const SHORT_SHA = 10

const commitText = async ({ repository }: Attribution, sha: string | undefined): Promise<string> => {
  if (sha === undefined) return 'It is not committed.'
  const [commit] = await listCommits(repository, [sha])
  return `It comes from the commit ${sha.slice(0, SHORT_SHA)} "${commit?.subject ?? ''}" of ${shortTime(commit?.at ?? 0)}.`
}

/** Says that nothing is known of a line. */
const printUnknown = async (attribution: Attribution, { json }: Options, { path, line, commit }: Asked) => {
  if (json) {
    const place = { path, start: line, end: line, ...(commit === undefined ? {} : { commit }) }
    await printDocument({ type: 'unknown', ...place })
  } else
    await printLines([
      `${path}:${line} is unknown: no session in "${attribution.slug}" is known to have written it.`,
      await commitText(attribution, commit),
    ])
}

/** A longer call is shown around the line that was asked for. */
const MOST_LINES = 40
const AROUND = 12
/** An empty line, the head of the message, the tool and its first argument. */
const HEAD = 4

/** The beginning of a call, and of a long one the part with a line. */
const callLines = (lines: readonly Line[], text: string): Line[] => {
  if (lines.length <= MOST_LINES) return [...lines]
  const wanted = comparedLine(text)
  const at = Math.max(
    0,
    lines.findIndex((line) => comparedLine(line.text).endsWith(wanted)),
  )
  const [from, to] = [Math.max(HEAD, at - AROUND), Math.min(lines.length, at + AROUND + 1)]
  const left = (count: number): Line[] => (count > 0 ? [{ text: `    … ${count} more lines`, style: 'dim' }] : [])
  return [...lines.slice(0, HEAD), ...left(from - HEAD), ...lines.slice(from, to), ...left(lines.length - to)]
}

const EVIDENCE = {
  replaced: 'a call replaced by it what the commit removed',
  run: 'a call wrote it into this file',
  moved: 'a call wrote it into another file: this is shown, and never counted',
} as const

const headLines = (range: AttributedRange, { path, line }: Asked, link: string): Line[] => {
  const { evidence, trace, author, model, at } = range
  const agent = model === undefined ? trace.agentId : `${trace.agentId} (${model})`
  return [
    { text: trace.title ?? 'A session without a title', style: 'head' },
    { text: `${path}:${line}  ${evidence}: ${EVIDENCE[evidence]}`, style: 'dim' },
    { text: `${authorName(author)}  ${agent}  ${shortTime(at)}  ${trace.externalId}`, style: 'dim' },
    { text: link, style: 'dim' },
  ]
}

const printContext = async ({ prompt, words, call }: Context, text: string): Promise<void> => {
  const { stdout } = io()
  const shown = (message: StoredMessage | undefined): Line[] =>
    message ? [{ text: '' }, ...messageLines(message, messageWidth(stdout), true)] : []
  const textsOf = (message: StoredMessage | undefined) =>
    message && { ...message, parts: (message.parts ?? []).filter(({ type }) => type === 'text') }
  await printLines([
    ...shown(textsOf(prompt)),
    ...shown(words),
    ...callLines(shown(call), text),
    ...(prompt ? [] : [{ text: '' }, { text: 'There is no prompt before it.' }]),
  ])
}

const documentOf = (range: AttributedRange, { path, line, commit }: Asked, context: Context, url: string): object => {
  const { evidence, trace, message, callId, author, model, at } = range
  const said = (one: StoredMessage | undefined) => one && { externalId: one.externalId, text: textOf(one) }
  const call = context.call?.parts?.[0]?.content
  return {
    type: 'why',
    path,
    line,
    commit,
    ...{ evidence, trace, message, callId, author, model, at, url },
    ...{ prompt: said(context.prompt), words: said(context.words), call },
  }
}

/** Says what led to a line of a file: the prompt, the words of the agent, the call. */
export const why = async (access: Access, options: Options, place: string): Promise<number> => {
  const named = await namedLines(place, options.at !== undefined)
  if (!named.lines || named.lines[0] !== named.lines[1])
    throw new UsageError('Name one line of a file, such as src/app.ts:12.')
  const attribution = await openAttribution(access, options, named.folder)
  const { path, lines, known } = await blameLines(attribution, await placeOf(attribution.repository, named, options.at))
  const [found] = lines
  if (!found) throw new UsageError(`"${named.name}" has no line ${named.lines[0]}.`)
  const asked = { path, line: found.line, text: found.text, commit: found.commit }
  const range = known[0]?.range
  if (!range) {
    await printUnknown(attribution, options, asked)
    return exitCodes.failed
  }
  const { trace, message, callId } = range
  const context = await contextOf(readAroundIn(attribution, trace.externalId), message.externalId, callId)
  const url = linkOf(attribution, range)
  if (options.json) await printDocument(documentOf(range, asked, context, url))
  else {
    await printLines(headLines(range, asked, url))
    await printContext(context, found.text)
  }
  return exitCodes.ok
}
