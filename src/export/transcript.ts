import type { ExportFormat as Format } from '../contract/export.ts'
import type { Document } from './document.ts'
import { newPage } from './html/page.ts'
import { newMarkdown } from './markdown/page.ts'
import { type Head, headOf, readTrace } from './transcript/head.ts'
import { readMessage } from './transcript/message.ts'
import { inSteps } from '../base/json/steps.ts'
import { newTurns } from './transcript/turns.ts'

/** A trace with its messages as a file, piece by piece. The pieces of a message are made as they are taken. */
export type Transcript = {
  start(): string
  /** Adds the next message, as the API shows it with its parts, in JSON text. */
  add(message: string): Iterable<string>
  end(): Iterable<string>
}

/** Trace and messages as they are stored: no text is read. */
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

const newShown = (document: Document): Transcript => {
  const turns = newTurns()
  return {
    start: () => document.start(),
    *add(message) {
      const read = yield* inSteps(readMessage(message), '')
      for (const turn of turns.add(read, message.length)) yield* document.turn(turn)
    },
    *end() {
      for (const turn of turns.end()) yield* document.turn(turn)
      yield document.end()
    },
  }
}

const documents: Readonly<Record<'md' | 'html', (head: Head) => Document>> = { md: newMarkdown, html: newPage }

/** `trace` is a trace as the API shows it by itself, in JSON text. */
export const newTranscript = (format: Format, trace: string): Transcript =>
  format === 'json' ? newJson(trace) : newShown(documents[format](headOf(readTrace(trace))))
