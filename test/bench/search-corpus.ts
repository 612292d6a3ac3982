import { newRandom } from './corpus.ts'

/*
 * Messages with words as agents and people write them: few are frequent, most are rare, some are identifiers with parts, or paths. The
 * index gets as many different hashes of a text as of one in recorded sessions: seven for a hundred characters.
 */

const SYLLABLES = 'ba con der fil get han in jo ker lo map ne or path qu re set ter un val wri ex yi zo str pro'.split(
  ' ',
)
const SIZE = 40_000

const wordOf = (i: number, random: () => number): string => {
  const syllables = Array.from(
    { length: 1 + Math.floor(random() * 4) },
    () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]!,
  )
  const isIdentifier = i % 3 === 0
  const word = syllables.map((one, k) => (isIdentifier && k > 0 ? one[0]!.toUpperCase() + one.slice(1) : one)).join('')
  return `${word}${i % 7 === 0 ? `/${SYLLABLES[i % SYLLABLES.length]!}.ts` : ''}${i % 11 === 0 ? i : ''}`
}

const words = (() => {
  const random = newRandom(5)
  return Array.from({ length: SIZE }, (_, i) => wordOf(i, random))
})()

/** A word that is the more frequent the lower its rank is: the first makes up a tenth of all texts. */
export const wordAt = (rank: number): string => words[rank]!

/** How many of the words of a text it has had before, from 0 to 1. */
const REPEATED = 0.5

const textOf = (length: number, random: () => number): string => {
  const used: string[] = []
  let text = ''
  while (text.length < length) {
    const isRepeated = used.length > 0 && random() < REPEATED
    const word = isRepeated ? used[Math.floor(random() * used.length)]! : wordAt(Math.floor(SIZE ** random()) - 1)
    used.push(word)
    text += `${word}${random() < 0.1 ? '\n' : ' '}`
  }
  return text.slice(0, length)
}

const LENGTHS = [70, 120, 190, 270, 370, 440, 530, 650, 820, 1_070, 1_470, 2_170, 3_850, 4_970]

const message = (i: number, random: () => number): object => {
  const length = LENGTHS[Math.floor(random() * LENGTHS.length)]!
  const common = { externalId: `m${i}`, order: i, timestamp: 1_770_000_000_000 + i * 1_000 }
  const call = { callId: `call_${i - (i % 2)}`, toolName: ['Bash', 'Read', 'Edit'][(i >> 1) % 3] }
  if (i % 2 === 1) {
    const content = { ...call, output: textOf(length, random), status: random() < 0.1 ? 'error' : 'success' }
    return { ...common, role: 'user', parts: [{ type: 'tool_result', content }] }
  }
  const [text, thought, command] = Array.from({ length: 3 }, () => textOf(length / 3, random))
  return {
    ...common,
    role: 'assistant',
    model: 'claude-opus-4-5-20251101',
    parts: [
      { type: 'thinking', content: { text: thought } },
      { type: 'text', content: { text } },
      { type: 'tool_call', content: { ...call, args: { command } } },
    ],
  }
}

/** `count` messages from `first` on. */
export const wordyMessages = (count: number, first = 0, seed = 7): object[] => {
  const random = newRandom(seed + first)
  return Array.from({ length: count }, (_, i) => message(first + i, random))
}
