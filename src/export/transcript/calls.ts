import { rawMembers } from '../../json/raw-values.ts'
import { toolName } from '../../trace/messages/tool-names.ts'
import { type DiffLine, diffLines, patchLines } from './diff.ts'
import { languageOf } from './highlight.ts'
import { indentedJson } from './json-text.ts'
import type { Call } from './message.ts'
import { visibleLine } from './visible.ts'

/** An argument of a call: text as it is, anything else as JSON. */
export type Field = { readonly name: string; readonly isText: boolean; readonly value: string }

/** A piece of what a call shows. */
export type Detail =
  | { readonly is: 'code'; readonly language: string; readonly text: string }
  | { readonly is: 'diff'; readonly lines: readonly DiffLine[] }
  | { readonly is: 'fields'; readonly fields: readonly Field[] }

/** A call of a tool as a transcript shows it: `subject` says on one line what it is about, such as the path of a file. */
export type CallView = { readonly tool: string; readonly subject: string; readonly details: readonly Detail[] }

const MOST_FIELDS = 100
const MOST_SUBJECT = 500

/** The arguments by name; each that is taken is not shown again among the rest. */
class Args {
  readonly #values = new Map<string, Field>()
  constructor(json: string) {
    for (const { key, value } of rawMembers(json)) {
      if (this.#values.size === MOST_FIELDS) break
      const isText = value.startsWith('"')
      this.#values.set(key, { name: key, isText, value: isText ? (JSON.parse(value) as string) : value })
    }
  }
  get isFull() {
    return this.#values.size === MOST_FIELDS
  }
  peek(name: string): string | undefined {
    const field = this.#values.get(name)
    return field?.isText ? field.value : undefined
  }
  take(name: string): string | undefined {
    const text = this.peek(name)
    if (text !== undefined) this.#values.delete(name)
    return text
  }
  /** Takes a text that is short enough to stand beside the name of the tool. */
  subject(...names: readonly string[]): string {
    const name = names.find((one) => (this.peek(one)?.length ?? Infinity) <= MOST_SUBJECT)
    return name === undefined ? '' : visibleLine(this.take(name)!)
  }
  rest(): Detail[] {
    const fields = [...this.#values.values()].map((field) =>
      field.isText ? field : { ...field, value: indentedJson(field.value) },
    )
    return fields.length > 0 ? [{ is: 'fields', fields }] : []
  }
}

const PATHS = ['file_path', 'path', 'filePath', 'notebook_path', 'target_file'] as const

const replaced = (before: string, after: string): Detail[] => {
  const lines = diffLines(before, after)
  if (lines) return [{ is: 'diff', lines }]
  return [before, after].map((text) => ({ is: 'code', language: '', text }))
}

const patched = (patch: string): Detail => {
  const lines = patchLines(patch)
  return lines ? { is: 'diff', lines } : { is: 'code', language: '', text: patch }
}

type View = Omit<CallView, 'tool'>

const command = (args: Args): View => {
  const text = args.take('command') ?? args.take('cmd')
  const subject = args.subject('description')
  return { subject, details: [...(text === undefined ? [] : [code('bash', text)]), ...args.rest()] }
}

const code = (language: string, text: string): Detail => ({ is: 'code', language, text })

const edit = (args: Args): View => {
  const subject = args.subject(...PATHS)
  const patch = args.take('patch') ?? args.take('input')
  if (patch !== undefined) return { subject, details: [patched(patch), ...args.rest()] }
  const [before, after] = [args.peek('old_string'), args.peek('new_string')]
  if (before === undefined || after === undefined) return { subject, details: args.rest() }
  args.take('old_string')
  args.take('new_string')
  return { subject, details: [...replaced(before, after), ...args.rest()] }
}

const write = (args: Args): View => {
  const path = PATHS.map((name) => args.peek(name)).find((one) => one !== undefined) ?? ''
  const subject = args.subject(...PATHS)
  const content = args.take('content') ?? args.take('contents')
  const shown = content === undefined ? [] : [code(languageOf(path), content)]
  return { subject, details: [...shown, ...args.rest()] }
}

const about =
  (...names: readonly string[]) =>
  (args: Args): View => ({ subject: args.subject(...names), details: args.rest() })

/** How the calls of a tool are shown, by its normalised name; others show their arguments. */
const views: Readonly<Record<string, (args: Args) => View>> = {
  bash: command,
  edit,
  write,
  read: about(...PATHS),
  grep: about('pattern', 'query'),
  glob: about('pattern'),
  ls: about(...PATHS),
  task: about('description'),
  web_fetch: about('url'),
  web_search: about('query'),
}

const others = (args: Args): View => ({ subject: '', details: args.rest() })

/** What a call of a tool shows. */
export const viewOf = (call: Call): CallView => {
  const tool = visibleLine(call.toolName) || 'Tool'
  const args = new Args(call.args)
  if (args.isFull) return { tool, subject: '', details: [code('json', indentedJson(call.args))] }
  const name = toolName(call.toolName)
  return { tool, ...(Object.hasOwn(views, name) ? views[name]! : others)(args) }
}
