import { type Steps, atOnce } from '../base/json/steps.ts'
import { type ChangedLines, changedLinesInSteps, countLinesInSteps } from './changed-lines.ts'
import { patchedFilesInSteps } from './patches.ts'

/** What a call changes in one file, as its arguments tell. `path` is undefined if they do not name the file. */
export type Edit = { readonly path: string | undefined } & (
  | { readonly is: 'replacement'; readonly before: string; readonly after: string }
  /** The whole text of the file, or with `isPart` a text that is put into it. */
  | { readonly is: 'content'; readonly content: string; readonly isPart?: true }
  /** The lines of a patch that are about this file. */
  | ({ readonly is: 'patch'; readonly patch: string } & ChangedLines)
  /** The arguments do not say what is changed. */
  | { readonly is: 'unknown' }
)

type Args = Readonly<Record<string, unknown>>

/** The tools of the known agents that change files, by their normalised names. */
const EDITING = new Set([
  'edit',
  'write',
  'patch',
  'multiedit',
  'notebook_edit',
  'create',
  'insert',
  'delete_file',
  'search_replace',
  'str_replace_editor',
  'str_replace_based_edit_tool',
  'insert_edit_into_file',
  'replace_string_in_file',
  'multi_replace_string_in_file',
])

// How agents name these arguments; of several the first that is there counts.
export const PATHS = ['file_path', 'path', 'filePath', 'notebook_path', 'target_file', 'filename']
export const BEFORE = ['old_string', 'oldString', 'old_str', 'oldText', 'old_text']
export const AFTER = ['new_string', 'newString', 'new_str', 'newText', 'new_text']
const INSERTED = ['new_source', 'insert_text']
export const CONTENTS = ['content', 'contents', 'file_text', ...INSERTED]
export const PATCHES = ['patch', 'patchText', 'patch_text', 'input', 'diff']
const SKETCH = ['code_edit']
export const LISTS = ['edits', 'replacements']

const member = (args: Args, names: readonly string[], type: 'string' | 'object'): unknown => {
  const name = names.find((one) => Object.hasOwn(args, one) && typeof args[one] === type)
  return name === undefined ? undefined : args[name]
}

const textIn = (args: Args, names: readonly string[]) => member(args, names, 'string') as string | undefined

/** Edits one after the other; undefined for a step without one. */
type Found = Generator<Edit | undefined, void>

function* ofPatch(patch: string, path: string | undefined): Found {
  for (const file of patchedFilesInSteps(patch)) {
    if (!file) {
      yield
      continue
    }
    const { path: named = path, from, to, ...lines } = file
    yield { is: 'patch', path: named, patch: patch.slice(from, to), ...lines }
  }
}

/** The change that these arguments describe by themselves, if any. */
function* ofOne(args: Args, given: string | undefined): Found {
  const path = textIn(args, PATHS) ?? given
  const [before, after] = [textIn(args, BEFORE), textIn(args, AFTER)]
  if (before !== undefined || after !== undefined)
    return yield { is: 'replacement', path, before: before ?? '', after: after ?? '' }
  const content = textIn(args, CONTENTS)
  const isPart = textIn(args, INSERTED) === content
  if (content !== undefined) return yield { is: 'content', path, content, ...(isPart ? { isPart } : {}) }
  const patch = textIn(args, PATCHES)
  let isPatch = false
  for (const one of patch === undefined ? [] : ofPatch(patch, path)) {
    isPatch ||= one !== undefined
    yield one
  }
  const isVague = textIn(args, SKETCH) !== undefined || patch !== undefined
  if (!isPatch && isVague && path !== undefined) yield { is: 'unknown', path }
}

const isArgs = (value: unknown): value is Args => typeof value === 'object' && value !== null && !Array.isArray(value)

function* ofEditor(args: Args): Found {
  const list = member(args, LISTS, 'object')
  if (!Array.isArray(list)) return yield* ofOne(args, undefined)
  const path = textIn(args, PATHS)
  for (const each of list.filter(isArgs)) yield* ofOne(each, path)
}

const BEGINS = '*** Begin Patch'

/** Codex may call `apply_patch` as a command of the shell. */
function* ofCommand(args: Args): Found {
  const command = Object.hasOwn(args, 'command') ? args['command'] : Object.hasOwn(args, 'cmd') ? args['cmd'] : ''
  const words = Array.isArray(command) ? command : [command]
  const text = words.find((word): word is string => typeof word === 'string' && word.includes(BEGINS))
  if (text === undefined || !words.some((word) => typeof word === 'string' && word.includes('apply_patch'))) return
  const [from, to] = [text.indexOf(BEGINS), text.indexOf('*** End Patch')]
  yield* ofPatch(text.slice(from, to < from ? text.length : to), undefined)
}

/**
 * The changes that a call makes to files, in order; none if its tool does not change files, or the arguments do not tell.
 * @param tool its normalised name (`tool-names.ts`)
 */
export const editsOf = (tool: string, args: Args): Edit[] =>
  [...editsInSteps(tool, args)].filter((edit) => edit !== undefined)

/** Whether calls of a tool are looked through for changes of files. */
export const mayEdit = (tool: string): boolean => tool === 'bash' || EDITING.has(tool)

/** Yields the changes that a call makes to files one after the other; undefined for a step without a change. */
export function* editsInSteps(tool: string, args: Args): Found {
  if (tool === 'bash') return yield* ofCommand(args)
  if (!EDITING.has(tool)) return
  if (tool !== 'delete_file') return yield* ofEditor(args)
  const path = textIn(args, PATHS)
  if (path) yield { is: 'unknown', path }
}

/** The tools of the known agents that show a file, by their normalised names; the editors also have a command for it. */
const READING = new Set(['read', 'read_text_file', 'open_file', 'notebook_read'])
const EDITORS = new Set(['str_replace_editor', 'str_replace_based_edit_tool'])

/** Whether calls of a tool may show files. */
export const mayRead = (tool: string): boolean => READING.has(tool) || EDITORS.has(tool)

/** The path of the file that a call shows; undefined if it shows none, or several. */
export const pathRead = (tool: string, args: Args): string | undefined => {
  const shows = READING.has(tool) || (EDITORS.has(tool) && args['command'] === 'view')
  return shows ? textIn(args, [...PATHS, 'absolute_path']) : undefined
}

/** Longer arguments are not read, because to parse them would take long. */
export const MOST_READ = 4 * 1024 * 1024

/** The changes that a call makes to files, from the JSON text of its arguments. */
export const editsIn = (tool: string, json: string): Edit[] => {
  const mayEdit = tool === 'bash' ? json.includes(BEGINS) : EDITING.has(tool)
  return mayEdit && json.length <= MOST_READ ? editsOf(tool, JSON.parse(json) as Args) : []
}

/** How many lines an edit changes; none if the arguments do not say. */
export const linesOfEdit = (edit: Edit): ChangedLines => atOnce(linesOfEditInSteps(edit))

export function* linesOfEditInSteps(edit: Edit): Steps<ChangedLines> {
  switch (edit.is) {
    case 'replacement':
      return yield* changedLinesInSteps(edit.before, edit.after)
    case 'content':
      return { added: yield* countLinesInSteps(edit.content), removed: 0 }
    case 'patch':
      return { added: edit.added, removed: edit.removed }
    case 'unknown':
      return { added: 0, removed: 0 }
  }
}
