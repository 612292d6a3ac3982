import type { Part } from '../agent.ts'
import { textOf } from './json.ts'

/** A text part; none for anything but a string that is not blank. */
export const textPart = (value: unknown): readonly Part[] => {
  const text = textOf(value)
  return text === undefined ? [] : [{ type: 'text', content: { text } }]
}

/** A thinking part; none for anything but a string that is not blank. */
export const thinkingPart = (value: unknown, durationMs?: number): readonly Part[] => {
  const text = textOf(value)
  if (text === undefined) return []
  return [{ type: 'thinking', content: { text, ...(durationMs === undefined ? {} : { durationMs }) } }]
}

export const errorPart = (message: string): Part => ({ type: 'error', content: { message } })
