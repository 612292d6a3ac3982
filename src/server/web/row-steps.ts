import { relatedHtml, morePrompts } from '../pages/trace-outline.ts'
import { childIn, linksOf, readChildren } from '../pages/trace-links.ts'
import type { Head } from '../../transcript/head.ts'
import type { View } from '../../transcript/html/links.ts'
import {
  type OutlinePrompt,
  endOfOutline,
  newOutline,
  outlinePrompts,
  promptText,
} from '../../transcript/html/outline.ts'
import { type Range, newRowRenderer } from '../../transcript/html/row-renderer.ts'
import type { CallCounts } from '../../transcript/html/ticks.ts'
import type { MessageListRow } from '../trace/messages/queries.ts'
import { messageText } from '../trace/messages/views.ts'
import type { PromptBeginning } from './trace-messages.ts'

/** The values of a session that its rows depend on besides its messages. They can be sent to a thread. */
export type SessionValues = Pick<Head, 'author' | 'folder' | 'model'> & {
  readonly slug: string
  readonly externalId: string
  readonly agentId: string
  /** The sub-agents of the session, as JSON texts. */
  readonly children: readonly string[]
  /** The sessions in which it goes on, as JSON texts. */
  readonly continuations: readonly string[]
}

/** The name of a model that pages show for what an agent has called it; undefined for an unknown one. */
export type ModelNames = (model: string) => string | undefined

/** Makes the rows of a page of the session, or of a part of it, and the outline. */
export type RowsTask = SessionValues & {
  readonly is: 'rows'
  readonly view: View
  /** The externalId of the message that the link to the page leads to. */
  readonly here?: string | undefined
  readonly range: Range
  /** The places of the messages that the page shows; undefined for all. */
  readonly part?: { readonly from: number; readonly to: number } | undefined
  /** The numbers of calls after each prompt, if the trace has them for each. */
  readonly segments?: readonly CallCounts[]
}

/**
 * The inputs of a task, in this order: messages as JSON texts with their externalIds, as often as there are some; the end of the messages; for a
 * page with an outline also the prompts of a long session, and the end of the outline with the number of prompts that it leaves out.
 */
export type RowInput =
  | { readonly is: 'messages'; readonly texts: readonly string[]; readonly ids: readonly string[] }
  | { readonly is: 'endOfMessages' }
  | { readonly is: 'prompts'; readonly prompts: readonly PromptBeginning[] }
  | { readonly is: 'endOfOutline'; readonly unlisted: number }

/** A message with the name of its model in place of what the agent has called it, so that a page has one name for a model. */
const withModelName = (row: MessageListRow, nameOf: ModelNames): MessageListRow => {
  const name = row.model === null ? undefined : nameOf(JSON.parse(row.model) as string)
  return name === undefined ? row : { ...row, model: JSON.stringify(name) }
}

export const messagesInput = (rows: readonly MessageListRow[], nameOf: ModelNames): RowInput => ({
  is: 'messages',
  texts: rows.map((row) => messageText(withModelName(row, nameOf))),
  ids: rows.map(({ external_id }) => external_id),
})

/** Takes the inputs of a task one by one, and yields pieces of HTML for each. */
export type RowSteps = (input: RowInput) => Iterable<string>

type MessagesInput = Extract<RowInput, { readonly is: 'messages' }>

/** The steps of a task without an outline. */
export const stepsOfMessages =
  (add: (input: MessagesInput) => Iterable<string>, end: () => Iterable<string>): RowSteps =>
  (input) => {
    switch (input.is) {
      case 'messages':
        return add(input)
      case 'endOfMessages':
        return end()
      case 'prompts':
      case 'endOfOutline':
        throw new Error(`This task has no outline, so it takes no input \`${input.is}\``)
    }
  }

/** How the rows of a session are shown on its pages, and its sub-agents. */
export const showingOf = ({ slug, externalId, agentId, children, author, folder, model }: SessionValues) => {
  const { all, byCall } = readChildren(slug, children)
  return { all, showing: { links: linksOf({ slug, externalId, agentId }, byCall), author, folder, model } }
}

export const newRowSteps = (task: RowsTask): RowSteps => {
  const { range, part, segments = [], view, here } = task
  const outline = newOutline(range.first.prompts)
  const { all, showing } = showingOf(task)
  const { links } = showing
  const continuations = task.continuations.map((text) => childIn(task.slug, text))
  const session = newRowRenderer({ ...showing, view, here }, range, outline.note)
  let onPage: ReadonlyMap<string, OutlinePrompt> | undefined

  const places = {
    place: (id: string, ordinal: number) =>
      !part || (ordinal >= part.from && ordinal < part.to) ? `#m-${ordinal}` : links.message(id),
    goOn: links.goOn,
  }

  /** The prompts that are complete on this part of a long session: all but the last, which may continue on the next part. */
  const wholeOnPage = (): ReadonlyMap<string, OutlinePrompt> => {
    const { prompts } = outline.data()
    return new Map(prompts.slice(0, -1).map((prompt) => [prompt.id, prompt]))
  }

  /**
   * A prompt of a long session. The numbers of its calls and changed lines are known if the page shows all messages up to the next prompt, or if
   * the trace has a segment for each prompt.
   */
  const promptOf = (prompt: PromptBeginning): OutlinePrompt => {
    onPage ??= wholeOnPage()
    return {
      segment: segments[prompt.number - 1] ?? [0, 0, 0],
      added: 0,
      removed: 0,
      took: undefined,
      tokens: undefined,
      subs: [],
      ...onPage.get(prompt.id),
      ...prompt,
      text: promptText(prompt.text),
    }
  }

  function* prompts(some: Iterable<OutlinePrompt>) {
    for (const { source } of outlinePrompts(some, places)) yield source
  }

  return function* (input) {
    switch (input.is) {
      case 'messages':
        for (const text of input.texts) outline.addUsage(yield* session.add(text))
        return
      case 'endOfMessages':
        return yield* session.end()
      case 'prompts':
        return yield* prompts(input.prompts.map(promptOf))
      case 'endOfOutline': {
        const { prompts: own, files } = outline.data()
        if (!part) yield* prompts(own)
        yield `${morePrompts(input.unlisted).source}${endOfOutline(part ? [] : files, relatedHtml(all, continuations)).source}`
      }
    }
  }
}
