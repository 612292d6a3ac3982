import { countText } from '../../base/for-people.ts'
import type { CallView, CallChanges, Detail } from '../calls.ts'
import type { Result } from '../message.ts'
import { countLinesUpToMost, manyLines } from '../slices.ts'
import { visibleLine } from '../visible.ts'
import { linesHtml } from './diff.ts'
import type { IconName } from './icons.ts'
import { type Html, markup, none } from './markup.ts'
import { counted, sizeText } from './output.ts'

/** The line of a call: what it did, and its result. */
export type CallLook = {
  readonly icon: IconName
  readonly label: string
  readonly what: Html
  /** What came of it, in one or two words; only where it succeeded. */
  readonly got?: Html
  /** Whether the details are open at first. */
  readonly isOpen?: boolean
  /** Whether it changes a file. */
  readonly isEdit?: boolean
}

type Answer = Result | undefined
type LookOf = (view: CallView, result: Answer, pathOf: (path: string) => string, changes: CallChanges) => CallLook

/** An edit of more changed lines is closed at first. */
const MOST_OPEN = 12
const MOST_HEADLINE = 300

const code = (text: string): Html => (text === '' ? none : markup`<code>${text}</code>`)
const words = (text: string): Html => (text === '' ? none : markup`<bdi>${text}</bdi>`)
const small = (text: string): Html => markup`<span>${text}</span>`

/** A remaining argument, on one line; empty if there is none. */
const field = ({ details }: CallView, ...names: readonly string[]): string => {
  const fields = details.flatMap((one) => (one.is === 'fields' ? one.fields : []))
  const value = fields.find(({ name }) => names.includes(name))?.value ?? ''
  return visibleLine(value.slice(0, MOST_HEADLINE))
}

const first = <Is extends Detail['is']>({ details }: CallView, is: Is) =>
  details.find((one): one is Extract<Detail, { is: Is }> => one.is === is)

const linesGot = (result: Answer): Html =>
  result && result.output !== '' ? small(manyLines(countLinesUpToMost(result.output))) : none

const matchesGot = (result: Answer): Html => {
  if (!result) return none
  const said = /^Found (\d+) (\w+)/.exec(result.output.slice(0, 100))
  if (said) return small(`${countText(Number(said[1]))} ${said[2]!}`)
  return small(
    /^No (?:files|matches) found/.test(result.output) || result.output === ''
      ? 'none'
      : manyLines(countLinesUpToMost(result.output)),
  )
}

/** What Codex writes before each command. */
const SHELL = 'bash -lc '

const shell: LookOf = (view) => {
  const command = visibleLine((first(view, 'code')?.text ?? '').slice(0, MOST_HEADLINE))
  const shown = command.startsWith(SHELL) ? command.slice(SHELL.length) : command
  return { icon: 'terminal', label: 'Shell', what: shown === '' ? words(view.subject) : code(shown) }
}

const read: LookOf = (view, result, pathOf) => {
  const [offset, limit] = [field(view, 'offset'), field(view, 'limit')].map((text) =>
    /^\d{1,9}$/.test(text) ? Number(text) : undefined,
  )
  const range =
    offset !== undefined && limit !== undefined ? small(`lines ${offset}–${offset + limit - 1}`) : linesGot(result)
  return { icon: 'file', label: 'Read', what: code(pathOf(view.subject)), got: range }
}

const edit: LookOf = (view, _result, pathOf, changes) => {
  const isSmall = first(view, 'diff') !== undefined && changes.added + changes.removed <= MOST_OPEN
  const label = /patch/i.test(view.tool) ? 'Patch' : 'Edit'
  const others = changes.files.size > 1 ? markup` and ${counted(changes.files.size - 1, 'other file')}` : none
  const what = markup`${code(pathOf(view.subject))}${others}`
  return { icon: 'edit', label, what, got: linesHtml(changes), isOpen: isSmall, isEdit: true }
}

const write: LookOf = (view, _result, pathOf, changes) => ({
  icon: 'write',
  label: 'Write',
  what: code(pathOf(view.subject)),
  got: linesHtml(changes),
  isEdit: true,
})

const grep: LookOf = (view, result, pathOf) => {
  const place = field(view, 'glob', 'path', 'type')
  const what = place === '' ? code(view.subject) : markup`${code(view.subject)} in ${code(pathOf(place))}`
  return { icon: 'search', label: 'Grep', what, got: matchesGot(result) }
}

const glob: LookOf = (view, result) => ({
  icon: 'folder',
  label: 'Glob',
  what: code(view.subject),
  got: matchesGot(result),
})
const list: LookOf = (view, result, pathOf) => ({
  icon: 'folder',
  label: 'List',
  what: code(pathOf(view.subject)),
  got: linesGot(result),
})

const todo: LookOf = (view) => {
  const items = first(view, 'todo')?.items ?? []
  const done = items.filter(({ state }) => state === 'done').length
  const got = items.length > 0 ? { got: small(`${done} of ${items.length}`) } : {}
  return { icon: 'todo', label: 'To-do', what: words(view.subject), ...got }
}

const task: LookOf = (view) => ({
  icon: 'agent',
  label: field(view, 'subagent_type', 'agent_type') || 'Sub-agent',
  what: words(view.subject),
})

const web =
  (label: string): LookOf =>
  (view) => ({ icon: 'web', label, what: words(view.subject) })

const item: LookOf = (view) => {
  const state = field(view, 'status')
  const what = markup`${view.kind === 'task_update' ? '#' : ''}${view.subject}${state === '' ? none : markup` <span>${state}</span>`}`
  return { icon: 'todo', label: 'To-do', what: view.subject === '' ? none : what }
}

const looks: Readonly<Record<string, LookOf>> = {
  bash: shell,
  read,
  edit,
  write,
  grep,
  glob,
  ls: list,
  task,
  agent: task,
  todo_write: todo,
  write_todos: todo,
  update_plan: todo,
  task_create: item,
  task_update: item,
  web_search: web('Web search'),
  web_fetch: web('Fetch'),
}

const MCP = 'mcp__'

/** The server and the tool in a name such as `mcp__server__tool`. */
const partsOfName = (tool: string): readonly [server: string | undefined, name: string] => {
  const at = tool.startsWith(MCP) ? tool.indexOf('__', MCP.length + 1) : -1
  return at < 0 || at + 2 === tool.length ? [undefined, tool] : [tool.slice(MCP.length, at), tool.slice(at + 2)]
}

/** Any other tool by its own name, with its first short argument. */
const other: LookOf = (view, result) => {
  const [server, name] = partsOfName(view.tool)
  const fields = view.details.flatMap((one) => (one.is === 'fields' ? one.fields : []))
  const short = fields.find(({ isText, value }) => isText && value.length <= 80)
  const what =
    view.subject !== ''
      ? words(view.subject)
      : short
        ? markup`${visibleLine(short.name)} ${code(visibleLine(short.value))}`
        : none
  const size = result && result.output.length > 1_000 ? small(sizeText(result.output.length)) : none
  return {
    icon: 'tool',
    label: name,
    what,
    got: markup`${server === undefined ? none : small(server)}${size}`,
  }
}

const looksLike = (kind: string, changes: CallChanges | undefined): LookOf =>
  Object.hasOwn(looks, kind) ? looks[kind]! : changes ? edit : other

/** A path without the folder that it is in, if that is the folder of the session. */
export const inFolder =
  (folder: string | undefined) =>
  (path: string): string =>
    folder !== undefined && path.startsWith(`${folder}/`) && path.length > folder.length + 1
      ? path.slice(folder.length + 1)
      : path

const NOTHING: CallChanges = { added: 0, removed: 0, files: new Map() }

export const lookOf = (view: CallView, result: Answer, folder?: string, changes?: CallChanges): CallLook => {
  const look = looksLike(view.kind, changes)(view, result, inFolder(folder), changes ?? NOTHING)
  return changes ? { ...look, isEdit: true } : look
}
