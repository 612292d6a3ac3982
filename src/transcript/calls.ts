import { rawItems, rawMembers, rawMembersInSteps } from '../base/json/raw-values.ts'
import { toolName } from './tool-names.ts'
import type { ChangedLines } from './changed-lines.ts'
import { type DiffLine, diffLines, patchLines } from './diff.ts'
import { AFTER, BEFORE, CONTENTS, LISTS, PATCHES, PATHS, editsInSteps, linesOfEditInSteps, mayEdit } from './edits.ts'
import { languageOf } from './highlight.ts'
import { patchedFiles } from './patches.ts'
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
  | { readonly is: 'todo'; readonly items: readonly TodoItem[] }

type TodoItem = { readonly state: 'done' | 'doing' | 'open'; readonly text: string }

/**
 * A tool call as a transcript shows it. `kind` is the name of the tool in all agents (`tool-names.ts`), `subject` one line, such as the
 * path of a file.
 */
export type CallView = {
  readonly tool: string
  readonly kind: string
  readonly subject: string
  readonly details: readonly Detail[]
}

const MOST_FIELDS = 100
const MOST_SUBJECT = 500
const MOST_NAME = 500

const MOST_INDENTED = 64 * 1024
const MOST_PARSED = 64 * 1024
/** Deeper values stay on one line, because indentation would be most of the text. */
const MOST_LEVELS = 12

/** How many values are indented in one step. */
const VALUES_OF_STEP = 2_000

const isNested = (json: string) => json.startsWith('{') || json.startsWith('[')

/** Counts down the values that are left for a step. */
type Pace = { left: number }

function* indented(json: string, level: number, pace: Pace): Steps<string> {
  const hasKeys = json.startsWith('{')
  const lines: string[] = []
  for (const one of hasKeys ? rawMembers(json) : rawItems(json)) {
    const [start, value] = typeof one === 'string' ? ['', one] : [`${JSON.stringify(one.key)}: `, one.value]
    const shown = isNested(value) && level + 1 < MOST_LEVELS ? yield* indented(value, level + 1, pace) : value
    lines.push(`${start}${shown}`)
    if ((pace.left -= 1) > 0) continue
    pace.left = VALUES_OF_STEP
    yield
  }
  if (lines.length === 0) return json
  const [open, close] = [json[0]!, json.at(-1)!]
  const indent = `\n${'  '.repeat(level + 1)}`
  return `${open}${indent}${lines.join(`,${indent}`)}\n${'  '.repeat(level)}${close}`
}

/** JSON text on several lines, with unchanged numbers and order of keys. Very long text stays as it is. */
function* indentedJson(json: string): Steps<string> {
  return isNested(json) && json.length <= MOST_INDENTED ? yield* indented(json, 0, { left: VALUES_OF_STEP }) : json
}

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
  /** Takes the first of these texts that is there. */
  takeFirst(names: readonly string[]): string | undefined {
    const name = names.find((one) => this.peek(one) !== undefined)
    return name === undefined ? undefined : this.take(name)
  }
  /** All values; those that are not texts only if they are short enough to be parsed at once. */
  *values(): Steps<Readonly<Record<string, unknown>>> {
    const values = new Map<string, unknown>()
    for (const { name, isText, value } of this.#values.values()) {
      values.set(name, isText ? value : this.json(name))
      yield
    }
    return Object.fromEntries(values)
  }
  /** Takes a text that is short enough for the line with the name of the tool. */
  subject(...names: readonly string[]): string {
    const name = names.find((one) => (this.peek(one)?.length ?? Infinity) <= MOST_SUBJECT)
    return name === undefined ? '' : visibleLine(this.take(name)!)
  }
  /** A value that is not a text, if it is short enough to be parsed at once. */
  json(name: string): unknown {
    const field = this.#values.get(name)
    if (!field || field.isText || field.value.length > MOST_PARSED) return undefined
    return JSON.parse(field.value)
  }
  drop(...names: readonly string[]): void {
    for (const name of names) this.#values.delete(name)
  }
  *rest(): Steps<Detail[]> {
    const fields: Field[] = []
    for (const field of this.#values.values()) {
      fields.push(field.isText ? field : { ...field, value: yield* indentedJson(field.value) })
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

const code = (language: string, text: string): Detail => ({ is: 'code', language, text })

const replaced = (before: string, after: string): Detail[] => {
  const lines = diffLines(before, after)
  if (lines) return [{ is: 'diff', lines }]
  return [before, after].map((text) => code('', text))
}

const patched = (patch: string): Detail => {
  const lines = patchLines(patch)
  return lines ? { is: 'diff', lines } : code('', patch)
}

type View = Pick<CallView, 'subject' | 'details'>

/** The details of this tool, followed by the remaining arguments. */
function* withRest(args: Args, subject: string, ...details: readonly Detail[]): Steps<View> {
  return { subject, details: [...details, ...(yield* args.rest())] }
}

/** The words of a command as one line. */
const joined = (words: unknown): string | undefined =>
  Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === 'string')
    ? words.join(' ')
    : undefined

/** A command, which agents give as text, or as a list of words. */
const commandIn = (args: Args): string | undefined => {
  for (const name of ['command', 'cmd']) {
    const text = args.take(name) ?? joined(args.json(name))
    if (text === undefined) continue
    args.drop(name)
    return text
  }
  return undefined
}

function* command(args: Args): Steps<View> {
  const text = commandIn(args)
  const subject = args.subject('description')
  return yield* withRest(args, subject, ...(text === undefined ? [] : [code('bash', text)]))
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** The edits of a call that makes several of one file; undefined for anything else. */
function* editsOf(value: unknown): Steps<Detail[] | undefined> {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const details: Detail[] = []
  for (const one of value as unknown[]) {
    if (!isObject(one)) return undefined
    const [before, after] = [BEFORE, AFTER].map((names) => names.find((name) => typeof one[name] === 'string'))
    const isOnlyThese = Object.keys(one).every((name) => name === before || name === after || name === 'replace_all')
    if (before === undefined || after === undefined || !isOnlyThese) return undefined
    details.push(...replaced(one[before] as string, one[after] as string))
    yield
  }
  return details
}

function* edit(args: Args): Steps<View> {
  const subject = args.subject(...PATHS)
  const patch = args.takeFirst(PATCHES)
  if (patch !== undefined) {
    const path = subject || visibleLine(patchedFiles(patch.slice(0, MOST_SUBJECT))[0]?.path ?? '')
    return yield* withRest(args, path, patched(patch))
  }
  for (const list of LISTS) {
    const edits = yield* editsOf(args.json(list))
    if (edits) args.drop(list)
    if (edits) return yield* withRest(args, subject, ...edits)
  }
  const [before, after] = [BEFORE, AFTER].map((names) => names.find((name) => args.peek(name) !== undefined))
  if (before === undefined && after === undefined) return yield* withRest(args, subject)
  const texts = [before, after].map((name) => (name === undefined ? '' : args.take(name)!)) as [string, string]
  if (args.json('replace_all') === false) args.drop('replace_all')
  return yield* withRest(args, subject, ...replaced(...texts))
}

function* write(args: Args): Steps<View> {
  const path = PATHS.map((name) => args.peek(name)).find((one) => one !== undefined) ?? ''
  const subject = args.subject(...PATHS)
  const content = args.takeFirst(CONTENTS)
  return yield* withRest(args, subject, ...(content === undefined ? [] : [code(languageOf(path), content)]))
}

const isThere = (args: Args) => (name: string) => args.peek(name) !== undefined

/** A tool with another name that changes a file: as a whole, or a part of it. */
function* change(args: Args): Steps<View> {
  const isWhole = CONTENTS.some(isThere(args)) && ![...BEFORE, ...AFTER].some(isThere(args))
  return yield* isWhole ? write(args) : edit(args)
}

const STATES: Readonly<Record<string, TodoItem['state']>> = {
  completed: 'done',
  done: 'done',
  in_progress: 'doing',
  pending: 'open',
}
/** Fields of an item that are shown, and fields that are left out: they repeat the text, or are numbers of the agent. */
const TODO_TEXTS = ['content', 'step'] as const
const TODO_OTHERS: ReadonlySet<string> = new Set(['status', 'activeForm', 'id', 'priority'])

const todoItem = (value: unknown): TodoItem | undefined => {
  if (!isObject(value)) return undefined
  const name = TODO_TEXTS.find((one) => typeof value[one] === 'string')
  const state = typeof value['status'] === 'string' ? STATES[value['status']] : undefined
  if (!name || !state || Object.keys(value).some((key) => key !== name && !TODO_OTHERS.has(key))) return undefined
  return { state, text: value[name] as string }
}

function* todo(args: Args): Steps<View> {
  const name = ['todos', 'plan'].find((one) => args.json(one) !== undefined)
  const list = name === undefined ? undefined : args.json(name)
  const items = Array.isArray(list) ? (list as unknown[]).map(todoItem) : []
  if (items.length === 0 || items.includes(undefined)) return yield* withRest(args, '')
  args.drop(name!)
  const shown = items as readonly TodoItem[]
  const subject = shown.find(({ state }) => state === 'doing')?.text ?? ''
  return yield* withRest(args, visibleLine(subject), { is: 'todo', items: shown })
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
  agent: about('description'),
  task_create: about('subject'),
  task_update: about('taskId', 'subject'),
  todo_write: todo,
  write_todos: todo,
  update_plan: todo,
  web_fetch: about('url'),
  web_search: about('query'),
  skill: about('skill', 'command'),
}

const others = (args: Args): Steps<View> => withRest(args, '')

/** The name of the called tool in all agents. */
const kindOfCall = ({ toolName: name }: Call): string => toolName(name.slice(0, MOST_NAME))

/** How many lines a call adds and removes, in which files. */
export type CallChanges = ChangedLines & { readonly files: ReadonlyMap<string, ChangedLines> }

/** The most files of one call whose changes are counted separately. */
const MOST_FILES = 200

const sum = (a: ChangedLines | undefined, b: ChangedLines): ChangedLines => ({
  added: (a?.added ?? 0) + b.added,
  removed: (a?.removed ?? 0) + b.removed,
})

/** The changes of a call according to its arguments; undefined if it changes no file. */
function* changesIn(kind: string, args: Args): Steps<CallChanges | undefined> {
  if (!mayEdit(kind)) return undefined
  let all: ChangedLines | undefined
  const files = new Map<string, ChangedLines>()
  for (const edit of editsInSteps(kind, yield* args.values())) {
    yield
    if (!edit) continue
    const lines = yield* linesOfEditInSteps(edit)
    all = sum(all, lines)
    const path = visibleLine((edit.path ?? '').slice(0, MOST_SUBJECT))
    if (path !== '' && (files.has(path) || files.size < MOST_FILES)) files.set(path, sum(files.get(path), lines))
  }
  return all && { ...all, files }
}

function* viewIn(call: Call, kind: string, args: Args | undefined): Steps<CallView> {
  const tool = visibleLine(call.toolName) || 'Tool'
  if (!args) return { tool, kind, subject: '', details: [code('json', yield* indentedJson(call.args))] }
  const view = Object.hasOwn(views, kind) ? views[kind]! : mayEdit(kind) ? change : others
  return { tool, kind, ...(yield* view(args)) }
}

/** A tool call as it is shown. */
export function* viewOf(call: Call): Steps<CallView> {
  return yield* viewIn(call, kindOfCall(call), yield* readArgs(call.args))
}

/** A tool call as it is shown, with the lines that it changes. */
export function* readCall(call: Call): Steps<{ readonly view: CallView; readonly changes: CallChanges | undefined }> {
  const [kind, args] = [kindOfCall(call), yield* readArgs(call.args)]
  const changes = args && (yield* changesIn(kind, args))
  return { view: yield* viewIn(call, kind, args), changes }
}
