import type { Chunk } from '../http/long-list.ts'
import { type TracePage, endOfMessages, endOfTrace, startOfTrace } from '../pages/trace.ts'
import { beginningOf } from '../trace/messages/beginnings.ts'
import { messageText } from '../trace/messages/views.ts'
import type { MessageListRow } from '../trace/messages/queries.ts'
import { startOfOutline } from '../../transcript/html/outline.ts'
import type { View } from '../../transcript/html/links.ts'
import { previewText, shortened } from '../../transcript/preview.ts'
import type { Rows } from './row-making.ts'
import { messagesInput } from './row-steps.ts'
import type { OpenRows } from './rows-of-answer.ts'
import { type ShownServices, type ShownTrace, sessionValues, shapeOf } from './trace-shown.ts'
import { type PromptBeginning, allPrompts, messagesBetween } from './trace-messages.ts'

/** What is read for a page in one step: messages, or, for the outline of a long session, prompts. */
export type PageRow =
  { readonly messages: readonly MessageListRow[] } | { readonly prompts: readonly PromptBeginning[] }

/** What is known of the messages before the page is begun. */
type FirstRead = {
  /** The revision of the trace that the page shows. */
  readonly revision: bigint
  /** The beginning of the first prompt, for the preview of a public trace; empty for other traces. */
  readonly firstPrompt: string
}

type ContentOptions = {
  readonly shown: ShownTrace
  readonly view: View
  /** The externalId of the message that the link to the page leads to. */
  readonly here: string | undefined
  readonly open: OpenRows
  /** The places of the messages that are shown; undefined for all. */
  readonly part: TracePage['part']
  /** Makes the page, once its first rows have been read. */
  readonly pageOf: (firstRead: FirstRead) => TracePage
}

export type TraceContent = ReturnType<typeof newTraceContent>

/** Makes a page piece by piece while its messages are read: the head, the rows, and last the outline of the whole session. */
export const newTraceContent = (
  reads: ShownServices['reads'],
  { shown, view, here, open, part, pageOf }: ContentOptions,
) => {
  const { trace } = shown
  let revision = 0n
  let firstPrompt: string | undefined
  let unlisted = 0
  let page: TracePage
  let rows: Rows | undefined
  let areRowsOver = false

  const firstPromptIn = async (rows: readonly MessageListRow[]): Promise<string> => {
    const row = trace.visibility === 'public' ? rows.find(({ role }) => role === 'user') : undefined
    return row ? (previewText(messageText(row)) ?? shortened(await beginningOf(reads, trace, row.external_id))) : ''
  }

  async function* chunks(): AsyncGenerator<Chunk<PageRow>, void> {
    const messages = await messagesBetween(reads, trace, part)
    revision = messages.revision
    const { range } = messages
    rows = open({ is: 'rows', ...sessionValues(shown), view, here, part, range, segments: shapeOf(shown.fields) })
    for await (const chunk of messages.chunks()) {
      firstPrompt ??= await firstPromptIn(chunk.rows)
      yield { ...chunk, rows: [{ messages: chunk.rows }] }
    }
    if (!part) return
    const prompts = await allPrompts(reads, trace, revision)
    unlisted = prompts.more
    for await (const chunk of prompts.chunks()) yield { ...chunk, rows: [{ prompts: chunk.rows }] }
  }

  const before = (): string => {
    page = pageOf({ revision, firstPrompt: firstPrompt ?? '' })
    return startOfTrace(page).source
  }

  /** Ends the rows, and begins the outline. */
  async function* endRows(): AsyncGenerator<string, void> {
    if (areRowsOver) return
    areRowsOver = true
    yield* rows!.make({ is: 'endOfMessages' })
    yield `${endOfMessages(page).source}${startOfOutline.source}`
  }

  async function* toText(one: PageRow): AsyncGenerator<string, void> {
    if ('messages' in one) return yield* rows!.make(messagesInput(one.messages, shown.modelName))
    yield* endRows()
    yield* rows!.make({ is: 'prompts', prompts: one.prompts })
  }

  async function* after(): AsyncGenerator<string, void> {
    yield* endRows()
    yield* rows!.make({ is: 'endOfOutline', unlisted })
    yield endOfTrace().source
  }

  return { chunks, before, toText, after, revision: () => revision }
}
