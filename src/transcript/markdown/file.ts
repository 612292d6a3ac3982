import { type Detail, type Field, viewOf } from '../calls.ts'
import type { DiffLine } from '../diff.ts'
import type { Head } from '../head.ts'
import type { Result } from '../message.ts'
import { readProse } from '../prose.ts'
import { linesText, slices } from '../slices.ts'
import { inSteps } from '../../base/json/steps.ts'
import { readTerminal } from '../terminal.ts'
import { timeText } from '../times.ts'
import type { Answered, Renderer, Shown, Turn } from '../turns.ts'
import { visibleLine } from '../visible.ts'
import { type Kind, proseText } from './prose.ts'
import { escapeHeading, escapeText, fenced, indented } from './safe.ts'
import { typedText } from './typed.ts'

const start = ({ title, facts }: Head): string => {
  const lines = facts.map(({ name, value }) => `* **${name}:** ${escapeText(value)}\n`)
  return `# ${escapeHeading(title)}\n\n${lines.join('')}\n`
}

const signs: Readonly<Record<DiffLine['is'], string>> = { added: '+', removed: '-', same: ' ', head: '' }

const boxes = { done: '[x]', doing: '[-]', open: '[ ]' } as const

/** An argument, similar to YAML: a text of several lines is indented below its name. */
function* fieldText({ name, isText, value }: Field): Generator<string, void> {
  const isLong = isText && /[\r\n]/.test(value)
  yield `${visibleLine(name)}:${isLong ? ' |\n  ' : ' '}`
  for (const slice of slices(value)) yield isLong ? slice.replace(/\r\n?|\n/g, '\n  ') : slice
  yield '\n'
}

function* fieldsText(fields: readonly Field[]): Generator<string, void> {
  for (const field of fields) yield* fieldText(field)
}

function* outputText(output: string): Generator<string, void> {
  for (const { text } of readTerminal(output)) yield text
}

function* detail(one: Detail): Generator<string, void> {
  switch (one.is) {
    case 'code':
      return yield* fenced(() => slices(one.text), one.language)
    case 'diff':
      return yield* fenced(() => one.lines.map(({ is, text }) => `${signs[is]}${text}\n`), 'diff')
    case 'fields':
      return yield* fenced(() => fieldsText(one.fields), 'yaml')
    case 'todo':
      return yield* fenced(() => one.items.map(({ state, text }) => `${boxes[state]} ${text}\n`), '')
  }
}

function* result({ output, failed }: Result, of: string): Generator<string, void> {
  const title = [failed ? 'Failed' : 'Result', linesText(output)].filter((word) => word !== '').join(', ')
  yield `${of}<details>\n<summary>${title}</summary>\n\n`
  yield* fenced(() => outputText(output), '')
  yield '</details>\n\n'
}

const MISSING = { later: '*Its result stands further below.*\n\n', none: '*No result was recorded.*\n\n' }

function* call({ call, result: answer }: Answered): Generator<string, void> {
  const { tool, subject, details } = yield* inSteps(viewOf(call), '')
  yield `**Tool: ${escapeText(tool)}**${subject === '' ? '' : ` · ${escapeText(subject)}`}\n\n`
  for (const one of details) yield* detail(one)
  if (typeof answer === 'string') yield MISSING[answer]
  else yield* result(answer, '')
}

const stamp = (...texts: readonly (string | undefined)[]): string => {
  const shown = texts.filter((text) => text !== undefined && text !== '').map((text) => escapeText(text!))
  return shown.length > 0 ? `*${shown.join(' · ')}*\n\n` : ''
}

/**
 * A file of one session in Markdown. Headings, fences, tags and tables come only from this file: content keeps its paragraphs, lists,
 * quotes and emphasis; its headings become bold, its code and tables become indented code.
 */
export const newMarkdown = (head: Head): Renderer => {
  let prompts = 0
  let isAnswering = false
  /** The kind of the previous block. */
  let previous: Kind = 'other'

  function* prose(text: string, keepsLines: boolean): Generator<string, void> {
    for (const parts of readProse(text, { keepsLines })) {
      yield '' // parsing and writing are two steps
      const [only] = parts
      if (only?.is === 'plain') {
        yield '*Text:*\n\n'
        yield* indented(slices(only.text))
      } else yield proseText(parts, previous)
      previous = parts.at(-1)?.is ?? previous
    }
  }

  function* shown(one: Shown, kind: Turn['kind']): Generator<string, void> {
    if ('is' in one) {
      yield* call(one)
      previous = 'other'
      return
    }
    switch (one.type) {
      case 'text':
        if (kind !== 'prompt') return yield* prose(one.text, kind === 'context')
        previous = yield* typedText(one.text, previous)
        return
      case 'thinking':
        yield '<details>\n<summary>Thinking</summary>\n\n'
        previous = 'other'
        yield* prose(one.text, false)
        yield '</details>\n\n'
        break
      case 'tool_result':
        yield* result(one, `**Result of ${escapeText(visibleLine(one.toolName) || 'a tool')}**\n\n`)
        break
      case 'error':
        yield '**Error**\n\n'
        yield* fenced(() => slices(one.message), '')
    }
    previous = 'other'
  }

  const heading = ({ kind, model, timestamp }: Turn): string => {
    const time = timeText(timestamp)
    if (kind === 'prompt') return `## Prompt ${prompts}\n\n${stamp(time)}`
    return `### Answer\n\n${stamp(model === undefined ? undefined : visibleLine(model), time)}`
  }

  function* turn(one: Turn): Generator<string, void> {
    if (one.kind === 'prompt') prompts += 1
    const continues = one.kind === 'answer' && isAnswering
    if (!continues) {
      yield one.kind === 'context' ? '<details>\n<summary>Context</summary>\n\n' : heading(one)
      previous = 'other'
    }
    for (const each of one.shown) yield* shown(each, one.kind)
    if (one.kind === 'context') yield '</details>\n\n'
    isAnswering = one.kind === 'answer'
  }

  return { start: () => start(head), turn, end: () => [] }
}
