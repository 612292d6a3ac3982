import type { ExportFormat as Format } from '../../../src/contract/export.ts'
import type { Links, Showing } from '../../../src/transcript/html/links.ts'
import { endOfOutline, newOutline, outlinePrompts, startOfOutline } from '../../../src/transcript/html/outline.ts'
import { WHOLE, newRowRenderer } from '../../../src/transcript/html/row-renderer.ts'
import { newTranscript } from '../../../src/transcript/transcript.ts'

const part = (type: string, content: object) => ({ type, content })
const call = (callId: string, toolName: string, args: object) => part('tool_call', { callId, toolName, args })

/** Where text can stand in a session, and in which order an export shows it. */
export const places = [
  ...['prompt', 'thought', 'answer', 'command', 'output', 'before', 'after', 'written', 'argument', 'nested', 'late'],
  ...['error', 'plain', 'context'],
]

/** A text between two words that have to be found. What is written to a terminal starts on a line of its own, where it overwrites none. */
export const between = (place: string, text: string, end = '\n\n'): string =>
  `begin-${place}${place === 'output' ? '\n' : ' '}${text}${end}end-${place}`

/** A session with each kind of content; `words` fills every place that holds text. */
export const session = (words: (place: string) => string): object[] => [
  { externalId: 'p1', role: 'user', timestamp: 1_767_366_245_000, parts: [part('text', { text: words('prompt') })] },
  {
    externalId: 'a1',
    role: 'assistant',
    model: 'a-model',
    parts: [
      part('thinking', { text: words('thought'), durationMs: 4_000 }),
      part('text', { text: words('answer') }),
      call('c1', 'Bash', { command: words('command') }),
      call('c2', 'Edit', { file_path: 'src/a.ts', old_string: words('before'), new_string: words('after') }),
      call('c3', 'Write', { file_path: 'src/b.ts', content: words('written') }),
      call('c4', 'mcp__own__tool', { text: words('argument'), list: [words('nested'), 1] }),
    ],
  },
  {
    externalId: 'r1',
    role: 'user',
    parts: [
      part('tool_result', { callId: 'c1', toolName: 'Bash', output: words('output'), status: 'error' }),
      part('tool_result', { callId: 'gone', toolName: 'Read', output: words('late'), status: 'success' }),
    ],
  },
  { externalId: 'a2', role: 'assistant', parts: [part('error', { message: words('error') })] },
  { externalId: 'p2', role: 'user', textContent: words('plain'), parts: [] },
  { externalId: 's1', role: 'system', parts: [part('text', { text: words('context') })] },
]

/** The whole text of an export. */
export const render = (format: Format, messages: readonly object[], trace: object = { title: 'A title' }): string => {
  const transcript = newTranscript(format, JSON.stringify({ externalId: 'x', agentId: 'an-agent', ...trace }))
  const texts = [transcript.start()]
  for (const message of messages) texts.push(...transcript.add(JSON.stringify(message)))
  texts.push(...transcript.end())
  return texts.join('')
}

/** Addresses as the pages of a service have them. */
const links: Links = {
  message: (id) => `/@own/x?m=${encodeURIComponent(id)}`,
  whole: (id) => `/@own/x/-/message/${encodeURIComponent(id)}`,
  text: (id, part) => `/@own/x/-/message/${encodeURIComponent(id)}?part=${part}`,
  goOn: () => undefined,
  child: () => undefined,
}

/** The rows of messages and their outline, as they stand in a page. */
export const renderRows = (messages: readonly object[], showing: Partial<Showing> = {}): string => {
  const outline = newOutline()
  const rows = newRowRenderer({ links, ...showing }, WHOLE, outline.note)
  const add = function* (message: object) {
    outline.addUsage(yield* rows.add(JSON.stringify(message)))
  }
  const texts = messages.flatMap((message) => [...add(message)])
  texts.push(...rows.end(), startOfOutline.source)
  const { prompts, files } = outline.data()
  for (const { source } of outlinePrompts(prompts, { place: links.message, goOn: links.goOn })) texts.push(source)
  texts.push(endOfOutline(files).source)
  return `<!doctype html><html lang="en"><head><title>t</title></head><body>${texts.join('')}</body></html>`
}
