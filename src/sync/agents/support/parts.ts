import type { Part } from '../agent.ts'
import { isObject, type Json, textOf } from './json.ts'

/** A text part; none when `text` is blank or no string. */
export const textPart = (text: unknown): Part[] => {
  const value = textOf(text)
  return value === undefined ? [] : [{ type: 'text', content: { text: value } }]
}

/** A thinking part; none when `text` is blank or no string. */
export const thinkingPart = (text: unknown, durationMs?: number): Part[] => {
  const value = textOf(text)
  if (value === undefined) return []
  return [{ type: 'thinking', content: { text: value, ...(durationMs === undefined ? {} : { durationMs }) } }]
}

export const errorPart = (message: string): Part => ({ type: 'error', content: { message } })

/** The arguments of a call as an object: anything else that an agent stored becomes `{ input }`. */
export const argsOf = (input: unknown): Json => {
  if (isObject(input)) return input
  return input === undefined || input === null ? {} : { input }
}
