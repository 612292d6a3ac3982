import type { Part } from '../agent.ts'
import { textOf } from './json.ts'

const partOf =
  (type: 'text' | 'thinking') =>
  (value: unknown): readonly Part[] => {
    const text = textOf(value)
    return text === undefined ? [] : [{ type, content: { text } }]
  }

/** A text part; none for anything but a string that is not blank. */
export const textPart = partOf('text')

/** A thinking part; none for anything but a string that is not blank. */
export const thinkingPart = partOf('thinking')
