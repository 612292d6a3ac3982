import { childrenHtml, morePrompts } from '../pages/trace-outline.ts'
import { linksOf, readChildren } from '../pages/trace-links.ts'
import type { Showing } from '../transcript/html/links.ts'
import { type OutlinePrompt, endOfOutline, newOutline, outlinePrompts, promptText } from '../transcript/html/outline.ts'
import { type Range, newRowRenderer } from '../transcript/html/row-renderer.ts'
import type { CallCounts } from '../transcript/html/strip.ts'
import type { PromptBeginning } from './trace-messages.ts'

/** All that the rows of a session depend on besides its messages, as values that can be sent to a thread. */
export type WantedRows = Pick<Showing, 'view' | 'here' | 'author' | 'folder' | 'model'> & {
  readonly slug: string
  readonly externalId: string
  /** The sub-agents of the session, as JSON texts. */
  readonly children: readonly string[]
  readonly range: Range
  /** The places of the messages that the page shows; undefined for all. */
  readonly part?: { readonly from: number; readonly to: number } | undefined
  /** The numbers of calls after each prompt, if the trace has them for each. */
  readonly segments?: readonly CallCounts[]
}

/** The next input: messages, the end of the messages, prompts of a long session for the outline, or the end of the outline. */
export type RowWork =
  | { readonly is: 'messages'; readonly texts: readonly string[] }
  | { readonly is: 'endOfMessages' }
  | { readonly is: 'prompts'; readonly prompts: readonly PromptBeginning[] }
  | { readonly is: 'endOfOutline'; readonly unlisted: number }

/** Makes the rows of a session and its outline in steps. */
export type RowSteps = (work: RowWork) => Iterable<string>

export const newRowSteps = ({
  slug,
  externalId,
  children,
  range,
  part,
  segments = [],
  ...how
}: WantedRows): RowSteps => {
  const outline = newOutline()
  const { all, byCall } = readChildren(slug, children)
  const links = linksOf(slug, externalId, byCall)
  const session = newRowRenderer({ ...how, links }, range, outline.note)
  let onPage: ReadonlyMap<string, OutlinePrompt> | undefined

  const places = {
    place: (id: string, ordinal: number) =>
      !part || (ordinal >= part.from && ordinal < part.to) ? `#m-${ordinal}` : links.message(id),
  }

  /** The prompts that are complete on this part of a long session: all but the last, which may continue on the next part. */
  const wholeOnPage = (): ReadonlyMap<string, OutlinePrompt> => {
    const { prompts } = outline.data()
    return new Map(prompts.slice(0, -1).map((prompt) => [prompt.id, prompt]))
  }

  /** A prompt of a long session. Its numbers are known if the page has all of it, or if the trace has a segment for each prompt. */
  const promptOf = (prompt: PromptBeginning): OutlinePrompt => {
    onPage ??= wholeOnPage()
    return {
      ...{ segment: segments[prompt.number - 1] ?? [0, 0, 0], added: 0, removed: 0, took: undefined, subs: [] },
      ...onPage.get(prompt.id),
      ...prompt,
      text: promptText(prompt.text),
    }
  }

  function* prompts(some: Iterable<OutlinePrompt>) {
    for (const { source } of outlinePrompts(some, places)) yield source
  }

  return function* (work) {
    switch (work.is) {
      case 'messages':
        for (const text of work.texts) yield* session.add(text)
        return
      case 'endOfMessages':
        return yield* session.end()
      case 'prompts':
        return yield* prompts(work.prompts.map(promptOf))
      case 'endOfOutline': {
        const { prompts: own, files } = outline.data()
        if (!part) yield* prompts(own)
        yield `${morePrompts(work.unlisted).source}${endOfOutline(part ? [] : files, childrenHtml(all)).source}`
      }
    }
  }
}
