import { inSteps } from '../base/json/steps.ts'
import type { ExportFormat as Format } from '../contract/export.ts'
import { type Head, headOf, readTrace } from './head.ts'
import { endOfDocument, startOfDocument } from './html/document.ts'
import { headHtml } from './html/head.ts'
import { iconSprite } from './html/icons.ts'
import { markup } from './html/markup.ts'
import { newRows } from './html/rows.ts'
import { newMarkdown } from './markdown/file.ts'
import { readMessage } from './message.ts'
import { newTurns, type Renderer } from './turns.ts'

/** An HTML file of one session, complete by itself: nothing in it is folded, and nothing in it leads elsewhere. */
const newHtml = (head: Head): Renderer => {
  const { author, model, folder } = head
  const rows = newRows({ links: undefined, author, model, folder })
  return {
    start: () =>
      markup`${startOfDocument(head.title)}${iconSprite}<div class="trace alone"><main id="main">${headHtml(head)}<div class="msgs" id="messages">
`.source,
    *turn(turn) {
      for (const { source } of rows.add(turn)) yield source
    },
    *end() {
      for (const { source } of rows.end()) yield source
      yield markup`</div></main></div>\n${endOfDocument}`.source
    },
  }
}

/** A trace with its messages as a file, piece by piece. The pieces of a message are made as they are read. */
type Transcript = {
  start(): string
  /** Adds the next message, with its parts, as JSON text from the API. */
  add(message: string): Iterable<string>
  end(): Iterable<string>
}

/** Trace and messages as they are stored, without parsing them. */
const newJson = (trace: string): Transcript => {
  let separator = ''
  return {
    start: () => `{"trace":${trace},"messages":[`,
    add: (message) => {
      const text = `${separator}${message}`
      separator = ','
      return [text]
    },
    end: () => [']}'],
  }
}

const newShown = (renderer: Renderer): Transcript => {
  const turns = newTurns()
  return {
    start: () => renderer.start(),
    *add(message) {
      const read = yield* inSteps(readMessage(message), '')
      for (const turn of turns.add(read, message.length)) yield* renderer.turn(turn)
    },
    *end() {
      for (const turn of turns.end()) yield* renderer.turn(turn)
      yield* renderer.end()
    },
  }
}

const renderers: Readonly<Record<'md' | 'html', (head: Head) => Renderer>> = { md: newMarkdown, html: newHtml }

/** `trace` is the JSON text of a trace from the API. */
export const newTranscript = (format: Format, trace: string): Transcript =>
  format === 'json' ? newJson(trace) : newShown(renderers[format](headOf(readTrace(trace))))
