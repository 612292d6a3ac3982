import { rawItems, rawMembers, rawMembersInSteps } from '../base/json/raw-values.ts'
import { toolName } from './tool-names.ts'
import { type DiffLine, diffLines, patchLines } from './diff.ts'
import { languageOf } from './highlight.ts'
import { readString } from '../base/json/read-string.ts'
import type { Call } from './message.ts'
import type { Steps } from '../base/json/steps.ts'
import { visibleLine } from './visible.ts'

/** An argument of a call: text as it is, other values as JSON. */
export type Field = { readonly name: string; readonly isText: boolean; readonly value: string }

/** A piece of a call as it is shown. */
export type Detail =
  | { readonly is: 'code'; readonly language: string; readonly text: string }
  | { readonly is: 'diff'; readonly lines: readonly DiffLine[] }
  | { readonly is: 'fields'; readonly fields: readonly Field[] }

/** A tool call as a transcript shows it. `subject` is one line, such as the path of a file. */
export type CallView = { readonly tool: string; readonly subject: string; readonly details: readonly Detail[] }

const MOST_FIELDS = 100
const MOST_SUBJECT = 500
const MOST_NAME = 500

const MOST_INDENTED = 64 * 1024
/** Deeper values stay on one line, because indentation would be most of the text. */
const MOST_LEVELS = 12

const isNested = (json: string) => json.startsWith('{') || json.startsWith('[')

const indented = (json: string, level: number): string => {
  if (!isNested(json) || level >= MOST_LEVELS) return json
  const items = json.startsWith('{')
    ? [...rawMembers(json)].map(({ key, value }) => `${JSON.stringify(key)}: ${indented(value, level + 1)}`)
    : [...rawItems(json)].map((item) => indented(item, level + 1))
  if (items.length === 0) return json
  const [open, close] = [json[0]!, json.at(-1)!]
  const indent = '  '.repeat(level + 1)
  return `${open}\n${items.map((item) => `${indent}${item}`).join(',\n')}\n${'  '.repeat(level)}${close}`
}

/** JSON text on several lines, with unchanged numbers and order of keys. Very long text stays as it is. */
const indentedJson = (json: string): string => (json.length > MOST_INDENTED ? json : indented(json, 0))

/** The arguments by name. A taken argument is not shown again among the rest. */
class Args {
  readonly #values: Map<string, Field>
  constructor(values: Map<string, Field>) {
    this.#values = values
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
  /** Takes a text that is short enough for the line with the name of the tool. */
  subject(...names: readonly string[]): string {
    const name = names.find((one) => (this.peek(one)?.length ?? Infinity) <= MOST_SUBJECT)
    return name === undefined ? '' : visibleLine(this.take(name)!)
  }
  *rest(): Steps<Detail[]> {
    const fields: Field[] = []
    for (const field of this.#values.values()) {
      fields.push(field.isText ? field : { ...field, value: indentedJson(field.value) })
      yield
    }
    return fields.length > 0 ? [{ is: 'fields', fields }] : []
  }
}

/** Undefined if there are too many arguments, or too long names, to show them one by one. */
function* readArgs(json: string): Steps<Args | undefined> {
  const values = new Map<string, Field>()
  for (const member of rawMembersInSteps(json)) {
    if (member) {
      const { key, value } = member
      const isText = value.startsWith('"')
      values.set(key, { name: key, isText, value: isText ? yield* readString(value) : value })
      if (values.size === MOST_FIELDS || key.length > MOST_NAME) return undefined
    }
    yield
  }
  return new Args(values)
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

const code = (language: string, text: string): Detail => ({ is: 'code', language, text })

/** The details of this tool, followed by the remaining arguments. */
function* withRest(args: Args, subject: string, ...details: readonly Detail[]): Steps<View> {
  return { subject, details: [...details, ...(yield* args.rest())] }
}

function* command(args: Args): Steps<View> {
  const text = args.take('command') ?? args.take('cmd')
  const subject = args.subject('description')
  return yield* withRest(args, subject, ...(text === undefined ? [] : [code('bash', text)]))
}

function* edit(args: Args): Steps<View> {
  const subject = args.subject(...PATHS)
  const patch = args.take('patch') ?? args.take('input')
  if (patch !== undefined) return yield* withRest(args, subject, patched(patch))
  const [before, after] = [args.peek('old_string'), args.peek('new_string')]
  if (before === undefined || after === undefined) return yield* withRest(args, subject)
  args.take('old_string')
  args.take('new_string')
  return yield* withRest(args, subject, ...replaced(before, after))
}

function* write(args: Args): Steps<View> {
  const path = PATHS.map((name) => args.peek(name)).find((one) => one !== undefined) ?? ''
  const subject = args.subject(...PATHS)
  const content = args.take('content') ?? args.take('contents')
  return yield* withRest(args, subject, ...(content === undefined ? [] : [code(languageOf(path), content)]))
}

const about =
  (...names: readonly string[]) =>
  (args: Args): Steps<View> =>
    withRest(args, args.subject(...names))

/** How calls of a tool are shown, by its normalised name. Of other tools the arguments are shown. */
const views: Readonly<Record<string, (args: Args) => Steps<View>>> = {
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

const others = (args: Args): Steps<View> => withRest(args, '')

/** A tool call as it is shown. */
export function* viewOf(call: Call): Steps<CallView> {
  const tool = visibleLine(call.toolName) || 'Tool'
  const args = yield* readArgs(call.args)
  if (!args) return { tool, subject: '', details: [code('json', indentedJson(call.args))] }
  const name = toolName(call.toolName.slice(0, MOST_NAME))
  return { tool, ...(yield* (Object.hasOwn(views, name) ? views[name]! : others)(args)) }
}
