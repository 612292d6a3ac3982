import { newRandom, textOfLength } from './corpus.ts'

/** Messages of sessions as pages show them: prompts, thinking, Markdown, and calls of the usual tools with what they give. */

const START = 1_770_000_000_000
/** A prompt and what is done for it; every second one of its messages has the result of a call only. */
const TURN = 20

type Random = () => number
/** For a message: neighbours are to be unlike each other. */
const randomOf = (i: number): Random => newRandom(Math.imul(i + 1, 2_654_435_761))
type Call = { readonly toolName: string; readonly args: object; readonly output: string }

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const upTo = (most: number, random: Random) => 1 + Math.floor(random() * most)
const textPart = (text: string) => ({ type: 'text', content: { text } })
const sentence = (length: number, random: Random) => textOfLength(length, random).replaceAll(/[\s"=>{}]+/g, ' ')

const codeLine = (i: number, random: Random) =>
  [
    `  const value${i} = await read(path, { encoding: 'utf8' })`,
    `  if (rows.length > ${upTo(99, random)}) throw new Error(\`no such row: \${rows[${i}]}\`)`,
    `  // ${sentence(40, random)}`,
    `  return values.filter((one) => one.at < ${i}).map(({ name }) => name)`,
    '',
  ][Math.floor(random() * 5)]!
const codeOf = (lines: number, random: Random) => times(lines, (i) => codeLine(i, random)).join('\n')
const numbered = (code: string) =>
  code
    .split('\n')
    .map((line, i) => `${String(i + 1).padStart(6)}→${line}`)
    .join('\n')
const fileOf = (random: Random) =>
  `/home/ada/app/src/${['log', 'feed', 'trace'][upTo(3, random) - 1]}/part-${upTo(20, random)}.ts`

const edit = (random: Random): Call => {
  const file_path = fileOf(random)
  const old_string = codeOf(upTo(20, random), random)
  const new_string = `${old_string.replace('value', 'row')}\n${codeOf(upTo(6, random), random)}`
  const output = `The file ${file_path} has been updated. Here is a part of it:\n${numbered(new_string)}`
  return { toolName: 'Edit', args: { file_path, old_string, new_string }, output }
}
const bash = (random: Random): Call => ({
  toolName: 'Bash',
  args: { command: `npm test -- ${fileOf(random)}`, description: sentence(50, random) },
  output: times(upTo(60, random), (i) => `\u001b[32m✓\u001b[39m ${sentence(60, random)} (${i} ms)`).join('\n'),
})
const read = (random: Random): Call => ({
  toolName: 'Read',
  args: { file_path: fileOf(random) },
  output: numbered(codeOf(upTo(150, random), random)),
})
const grep = (random: Random): Call => ({
  toolName: 'Grep',
  args: { pattern: 'read(?:Rows|Values)', path: 'src', output_mode: 'content' },
  output: times(upTo(30, random), () => `${fileOf(random)}:${upTo(400, random)}:${codeLine(1, random)}`).join('\n'),
})
const plan = (random: Random): Call => ({
  toolName: 'TodoWrite',
  args: { todos: times(6, (i) => ({ content: sentence(60, random), status: i < 3 ? 'completed' : 'pending' })) },
  output: 'The list has been changed.',
})
const calls = [edit, edit, edit, bash, bash, read, read, grep, plan]

/** What an agent says at the end. */
const report = (random: Random) =>
  [
    `## ${sentence(30, random)}`,
    `${sentence(200, random)} **${sentence(20, random)}** and \`readRows()\`, see [the file](https://example.com/src).`,
    times(4, () => `- \`${fileOf(random)}\`: ${sentence(90, random)}`).join('\n'),
    `| File | Before | After |\n|---|---:|---:|\n${times(5, (i) => `| part-${i}.ts | ${i} | ${2 * i} |`).join('\n')}`,
    `\`\`\`ts\n${codeOf(8, random)}\n\`\`\``,
  ].join('\n\n')

const partsOf = (
  i: number,
  random: Random,
): { readonly role: 'user' | 'assistant'; readonly parts: readonly object[] } => {
  const place = i % TURN
  if (place === 0) return { role: 'user', parts: [textPart(sentence(upTo(400, random), random))] }
  if (place === TURN - 1) return { role: 'assistant', parts: [textPart(report(random))] }
  // A result has the numbers of its call.
  const first = place % 2 === 1 ? i : i - 1
  const ofCall = randomOf(first)
  const { toolName, args, output } = calls[Math.floor(ofCall() * calls.length)]!(ofCall)
  const callId = `toolu_${first}`
  const status = first % 15 === 0 ? 'error' : 'success'
  if (first !== i)
    return { role: 'user', parts: [{ type: 'tool_result', content: { callId, toolName, output, status } }] }
  const said = [
    { type: 'thinking', content: { text: sentence(upTo(500, random), random) } },
    ...(place % 4 === 1 ? [textPart(sentence(upTo(250, random), random))] : []),
  ]
  return { role: 'assistant', parts: [...said, { type: 'tool_call', content: { callId, toolName, args } }] }
}

/** `count` messages from `first` on, as items of a batch; the same ones in every run. */
export const webMessages = (count: number, first = 0): object[] =>
  times(count, (k) => {
    const i = first + k
    const message = {
      externalId: `message-${i}`,
      order: i,
      timestamp: START + i * 5_000,
      ...partsOf(i, randomOf(-i - 2)),
    }
    return message.role === 'user' ? message : { ...message, model: 'claude-opus-4-5-20251101' }
  })
