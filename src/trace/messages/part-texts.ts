import { isRawNumber } from '../../json/exact.ts'
import type { Part } from './part.ts'

/** The texts and numbers in a JSON value, in no certain order: it may be nested deeply. */
function* leaves(value: unknown): Generator<string, void> {
  const left = [value]
  while (left.length > 0) {
    const one = left.pop()
    if (typeof one === 'string') yield one
    else if (typeof one === 'number') yield String(one)
    else if (isRawNumber(one)) yield JSON.stringify(one)
    else if (typeof one === 'object' && one !== null) for (const item of Object.values(one)) left.push(item)
  }
}

/** What people read in a part: of a call the name of its tool, and the texts and numbers that it was given. */
export function* textsOf(part: Part): Generator<string, void> {
  switch (part.type) {
    case 'text':
    case 'thinking':
      if (part.content) yield part.content.text
      return
    case 'tool_call':
      if (!part.content) return
      yield part.content.toolName
      yield* leaves(part.content.args)
      return
    case 'tool_result':
      if (part.content) yield part.content.output
      return
    case 'error':
      if (part.content) yield part.content.message
      return
  }
}
