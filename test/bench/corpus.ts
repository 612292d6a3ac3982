/** Messages of the sizes that real sessions have: 1.4 KB in the mean, most of them small, some of tens of kilobytes. */

const SHAPE = [300, 350, 420, 500, 600, 673, 760, 880, 1_050, 1_300, 1_700, 2_400, 4_084, 5_200]
const WORDS =
  'const the return of await file "path" import from test error => line \n function to a in { } value'.split(' ')

/** Pseudo-random but the same in every run. */
export const newRandom = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

export const textOfLength = (length: number, random: () => number) => {
  let text = ''
  while (text.length < length) text += `${WORDS[Math.floor(random() * WORDS.length)]} `
  return text.slice(0, length)
}

const HEAD = 230

/** The `i`th message of a session, as a batch item: calls and results, thinking and text, as agents write them. */
export const message = (i: number, random: () => number): object => {
  const length = Math.max(40, SHAPE[Math.floor(random() * SHAPE.length)]! - HEAD)
  const externalId = `msg_${i.toString(36).padStart(8, '0')}`
  const common = { externalId, order: i, timestamp: 1_770_000_000_000 + i * 1_000 }
  if (i % 2 === 1) {
    const content = {
      callId: `toolu_${i - 1}`,
      toolName: 'Bash',
      output: textOfLength(length, random),
      status: 'success',
    }
    return { ...common, role: 'user', parts: [{ type: 'tool_result', content }] }
  }
  const call = { callId: `toolu_${i}`, toolName: 'Bash', args: { command: textOfLength(length / 3, random) } }
  return {
    ...common,
    role: 'assistant',
    model: 'claude-opus-4-5-20251101',
    parts: [
      { type: 'thinking', content: { text: textOfLength(length / 3, random) } },
      { type: 'text', content: { text: textOfLength(length / 3, random) } },
      { type: 'tool_call', content: call },
    ],
  }
}

/** `count` messages from `first` on. */
export const messages = (count: number, first = 0, seed = 7): object[] => {
  const random = newRandom(seed + first)
  return Array.from({ length: count }, (_, i) => message(first + i, random))
}
