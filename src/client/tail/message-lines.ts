import { fitToColumns } from '../../cli/fit-to-columns.ts'
import type { Line } from '../../cli/output.ts'
import { shortDay } from '../../cli/time-text.ts'
import { outputText } from '../../transcript/screen.ts'
import type { MessageValue } from '../../contract/realtime-client/messages.ts'

type Part = NonNullable<MessageValue['parts']>[number]

const INDENT = '  '

const TAB = '  '

/** The lines of a text, without tabs and carriage returns, which would be escaped. */
const linesOf = (text: string): string[] => text.replaceAll('\t', TAB).split(/\r?\n/)

/** The first line of a text, cut to a width, and the number of further lines. */
const oneLine = (text: string, width: number): string => {
  const lines = linesOf(text.trim())
  const first = fitToColumns(lines[0]!, width)
  if (lines.length === 1) return first
  return `${first} (+${lines.length === 2 ? '1 line' : `${lines.length - 1} lines`})`
}

const indented = (text: string): Line[] => linesOf(text.trimEnd()).map((line) => ({ text: `${INDENT}${line}` }))

/** The arguments of a call: the value of a single text argument, else all as JSON. */
const argsText = (args: Readonly<Record<string, unknown>>): string => {
  const values = Object.values(args)
  const [only] = values
  return values.length === 1 && typeof only === 'string' ? only : JSON.stringify(args)
}

/** The arguments of a call, one or more lines for each. */
const argLines = (args: Readonly<Record<string, unknown>>): string =>
  Object.entries(args)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n')

/** A part in full. */
const fullPartLines = (part: Part): Line[] => {
  const lines = (head: string, text: string, style?: Line['style']): Line[] =>
    [{ text: `${INDENT}${head}` }, ...indented(text).map((line) => ({ text: `${INDENT}${line.text}` }))].map((line) =>
      style === undefined ? line : { ...line, style },
    )
  switch (part.type) {
    case 'text':
      return part.content ? indented(part.content.text) : []
    case 'thinking':
      return part.content ? lines('thinking:', part.content.text, 'dim') : []
    case 'tool_call':
      return part.content ? lines(`> ${part.content.toolName}`, argLines(part.content.args)) : []
    case 'tool_result': {
      if (!part.content) return []
      const { toolName, status } = part.content
      const output = outputText(part.content)
      return status === 'error' ? lines(`< ${toolName} failed:`, output, 'bad') : lines(`< ${toolName}:`, output, 'dim')
    }
    case 'error':
      return part.content ? lines('error:', part.content.message, 'bad') : []
  }
}

const partLines = (part: Part, width: number): Line[] => {
  const line = (text: string, style?: Line['style']): Line[] => [
    { text: `${INDENT}${text}`, ...(style === undefined ? {} : { style }) },
  ]
  switch (part.type) {
    case 'text':
      return part.content ? indented(part.content.text) : []
    case 'thinking':
      return part.content ? line(`thinking: ${oneLine(part.content.text, width)}`, 'dim') : []
    case 'tool_call': {
      if (!part.content) return []
      const { toolName, args } = part.content
      return line(`> ${oneLine(toolName, width)} ${oneLine(argsText(args), width)}`)
    }
    case 'tool_result': {
      if (!part.content) return []
      const { status } = part.content
      const output = outputText(part.content)
      const toolName = oneLine(part.content.toolName, width)
      return status === 'error'
        ? line(`< ${toolName} failed: ${oneLine(output, width)}`, 'bad')
        : line(`< ${toolName}: ${oneLine(output, width)}`, 'dim')
    }
    case 'error':
      return part.content ? line(`error: ${oneLine(part.content.message, width)}`, 'bad') : []
  }
}

/** When a message was written; may be an invalid date. */
const timeOf = ({ timestamp, createdAt }: Pick<MessageValue, 'timestamp' | 'createdAt'>): Date =>
  // May be raw JSON of an exact parser, from which no date can be made.
  new Date(Number(JSON.stringify(timestamp ?? createdAt)))

const timeText = (time: Date): string => (Number.isNaN(time.getTime()) ? '--:--:--' : time.toTimeString().slice(0, 8))

/** The day of a message in the local time zone, such as `Jan 2, 2026`; undefined for an invalid time. */
export const dayOf = ({ timestamp, createdAt }: Pick<MessageValue, 'timestamp' | 'createdAt'>): string | undefined =>
  shortDay(timestamp ?? createdAt)

const headLine = ({ role, model, timestamp, createdAt }: MessageValue): Line => ({
  text: `${timeText(timeOf({ timestamp, createdAt }))} ${role}${model === undefined ? '' : ` (${model})`}`,
  style: 'head',
})

/**
 * A message for a terminal: its head, then its parts. Calls, results and thinking take one line each, of about `width` columns; with
 * `isFull` they are shown in full.
 */
export const messageLines = (message: MessageValue, width: number, isFull = false): readonly Line[] => {
  const { parts = [], textContent } = message
  const shown = parts.flatMap((part) => (isFull ? fullPartLines(part) : partLines(part, width)))
  const body = shown.length === 0 && textContent !== undefined ? indented(textContent) : shown
  return [headLine(message), ...body]
}
