import type { Chunk } from '../http/long-list.ts'
import { type TracePage, childrenHtml, endOfMessages, endOfTrace, morePrompts, startOfTrace } from '../pages/trace.ts'
import { beginningOf } from '../trace/messages/beginnings.ts'
import { messageText } from '../trace/messages/views.ts'
import type { MessageListRow } from '../trace/messages/queries.ts'
import type { Showing } from '../transcript/html/links.ts'
import {
  type OutlinePrompt,
  endOfOutline,
  newOutline,
  outlinePrompts,
  promptText,
  startOfOutline,
} from '../transcript/html/outline.ts'
import { type Range, newSession } from '../transcript/html/session.ts'
import { previewText, shortened } from '../transcript/preview.ts'
import { type ShownServices, type ShownTrace, shapeOf } from './trace-shown.ts'
import { type PromptBeginning, allPrompts, messagesBetween } from './trace-messages.ts'

/** A row that is read for a page: a message, or of a long session a prompt for the outline. */
export type PageRow = { readonly row: MessageListRow } | { readonly prompt: PromptBeginning }

/** What the rows of a page are of, and the beginning of the first prompt among them, for the preview of a public one. */
type Found = { readonly revision: bigint; readonly range: Range; readonly firstPrompt: string }

type Wanted = {
  readonly shown: ShownTrace
  readonly showing: Showing
  /** The places of the messages that are shown; undefined for all. */
  readonly part: TracePage['part']
  /** The page, when its first rows are known. */
  readonly pageOf: (found: Found) => TracePage
}

/** A page piece by piece, while its messages are read: head, rows, and at last the outline, which is of the whole session. */
export const newTraceContent = ({ reads }: ShownServices, { shown, showing, part, pageOf }: Wanted) => {
  const outline = newOutline()
  const { trace } = shown
  let [revision, range]: [bigint, Range | undefined] = [0n, undefined]
  let firstPrompt: string | undefined
  let unlisted = 0
  let page: TracePage
  let session: ReturnType<typeof newSession>
  let areRowsOver = false

  const firstPromptIn = async (rows: readonly MessageListRow[]): Promise<string> => {
    const row = trace.visibility === 'public' ? rows.find(({ role }) => role === 'user') : undefined
    return row ? (previewText(messageText(row)) ?? shortened(await beginningOf(reads, trace, row.external_id))) : ''
  }

  async function* chunks(): AsyncGenerator<Chunk<PageRow>, void> {
    const messages = await messagesBetween(reads, trace, part)
    ;({ revision, range } = messages)
    for await (const chunk of messages.chunks()) {
      firstPrompt ??= await firstPromptIn(chunk.rows)
      yield { ...chunk, rows: chunk.rows.map((row) => ({ row })) }
    }
    if (!part) return
    const prompts = await allPrompts(reads, trace, revision)
    unlisted = prompts.more
    for await (const chunk of prompts.chunks()) yield { ...chunk, rows: chunk.rows.map((prompt) => ({ prompt })) }
  }

  const before = (): string => {
    page = pageOf({ revision, range: range!, firstPrompt: firstPrompt ?? '' })
    session = newSession(showing, range!, outline.note)
    return startOfTrace(page).source
  }

  const places = {
    place: (id: string, ordinal: number) =>
      !part || (ordinal >= part.from && ordinal < part.to) ? `#m-${ordinal}` : showing.links!.message(id),
  }

  /** Ends the rows, and begins the outline. */
  function* endRows(): Generator<string, void> {
    if (areRowsOver) return
    areRowsOver = true
    yield* session.end()
    yield `${endOfMessages(page).source}${startOfOutline.source}`
  }

  const segments = shapeOf(shown.fields)

  let onPage: ReadonlyMap<string, OutlinePrompt> | undefined

  /** The prompts of which all is on this part of a long session: the last one may go on. */
  const wholeOnPage = (): ReadonlyMap<string, OutlinePrompt> => {
    const { prompts } = outline.data()
    return new Map(prompts.slice(0, -1).map((prompt) => [prompt.id, prompt]))
  }

  /** A prompt of a long session. What was done for it is known if it is on the page, or if each prompt has a segment of its own. */
  const promptOf = (prompt: PromptBeginning): OutlinePrompt => {
    onPage ??= wholeOnPage()
    return {
      ...{ segment: segments[prompt.number - 1] ?? [0, 0, 0], added: 0, removed: 0, took: undefined, subs: [] },
      ...onPage.get(prompt.id),
      ...prompt,
      text: promptText(prompt.text),
    }
  }

  function* toText(one: PageRow): Generator<string, void> {
    if ('row' in one) return yield* session.add(messageText(one.row))
    yield* endRows()
    for (const { source } of outlinePrompts([promptOf(one.prompt)], places)) yield source
  }

  function* after(): Generator<string, void> {
    yield* endRows()
    const { prompts, files } = outline.data()
    if (!part) for (const { source } of outlinePrompts(prompts, places)) yield source
    yield `${morePrompts(unlisted).source}${endOfOutline(part ? [] : files, childrenHtml(page.children)).source}${endOfTrace.source}`
  }

  return { chunks, before, toText, after, revision: () => revision }
}
