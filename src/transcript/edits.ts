import { type ChangedLines, changedLines, countLines } from './changed-lines.ts'
import { patchedFiles } from './patches.ts'

/** What a call changes in one file, as its arguments tell. `path` is undefined if they do not name the file. */
export type Edit = { readonly path: string | undefined } & (
  | { readonly is: 'replacement'; readonly before: string; readonly after: string }
  | { readonly is: 'content'; readonly content: string }
  /** The lines of a patch that are about this file. */
  | ({ readonly is: 'patch'; readonly patch: string } & ChangedLines)
  /** The arguments do not tell what is changed. */
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
const PATH = ['file_path', 'path', 'filePath', 'notebook_path', 'target_file', 'filename']
const BEFORE = ['old_string', 'oldString', 'old_str', 'oldText', 'old_text']
const AFTER = ['new_string', 'newString', 'new_str', 'newText', 'new_text']
const CONTENT = ['content', 'contents', 'file_text', 'new_source', 'insert_text']
const PATCH = ['patch', 'patchText', 'patch_text', 'input', 'diff']
const SKETCH = ['code_edit']
const LIST = ['edits', 'replacements']

const member = (args: Args, names: readonly string[], type: 'string' | 'object'): unknown => {
  const name = names.find((one) => Object.hasOwn(args, one) && typeof args[one] === type)
  return name === undefined ? undefined : args[name]
}

const textIn = (args: Args, names: readonly string[]) => member(args, names, 'string') as string | undefined

const ofPatch = (patch: string, path: string | undefined): Edit[] =>
  patchedFiles(patch).map(({ path: named = path, from, to, ...lines }) => ({
    is: 'patch',
    path: named,
    patch: patch.slice(from, to),
    ...lines,
  }))

/** The change that these arguments describe by themselves, if any. */
const ofOne = (args: Args, given: string | undefined): Edit[] => {
  const path = textIn(args, PATH) ?? given
  const [before, after] = [textIn(args, BEFORE), textIn(args, AFTER)]
  if (before !== undefined || after !== undefined)
    return [{ is: 'replacement', path, before: before ?? '', after: after ?? '' }]
  const content = textIn(args, CONTENT)
  if (content !== undefined) return [{ is: 'content', path, content }]
  const patch = textIn(args, PATCH)
  const patched = patch === undefined ? [] : ofPatch(patch, path)
  if (patched.length > 0) return patched
  const isVague = textIn(args, SKETCH) !== undefined || patch !== undefined
  return isVague && path !== undefined ? [{ is: 'unknown', path }] : []
}

const isArgs = (value: unknown): value is Args => typeof value === 'object' && value !== null && !Array.isArray(value)

const ofEditor = (args: Args): Edit[] => {
  const list = member(args, LIST, 'object')
  if (!Array.isArray(list)) return ofOne(args, undefined)
  const path = textIn(args, PATH)
  return list.filter(isArgs).flatMap((each) => ofOne(each, path))
}

const BEGINS = '*** Begin Patch'

/** Codex may call `apply_patch` as a command of the shell. */
const ofCommand = (args: Args): Edit[] => {
  const command = Object.hasOwn(args, 'command') ? args['command'] : Object.hasOwn(args, 'cmd') ? args['cmd'] : ''
  const words = Array.isArray(command) ? command : [command]
  const text = words.find((word): word is string => typeof word === 'string' && word.includes(BEGINS))
  if (text === undefined || !words.some((word) => typeof word === 'string' && word.includes('apply_patch'))) return []
  const [from, to] = [text.indexOf(BEGINS), text.indexOf('*** End Patch')]
  return ofPatch(text.slice(from, to < from ? text.length : to), undefined)
}

/**
 * The changes that a call makes to files, in order; none if its tool does not change files, or the arguments do not tell.
 * @param tool its normalised name (`tool-names.ts`)
 */
export const editsOf = (tool: string, args: Args): Edit[] => {
  if (tool === 'bash') return ofCommand(args)
  if (!EDITING.has(tool)) return []
  if (tool === 'delete_file') return [textIn(args, PATH)].flatMap((path) => (path ? [{ is: 'unknown', path }] : []))
  return ofEditor(args)
}

/** Longer arguments are not read, because to parse them would take long. */
const MOST_READ = 4 * 1024 * 1024

/** The same from the JSON text of the arguments. */
export const editsIn = (tool: string, json: string): Edit[] => {
  const mayEdit = tool === 'bash' ? json.includes(BEGINS) : EDITING.has(tool)
  return mayEdit && json.length <= MOST_READ ? editsOf(tool, JSON.parse(json) as Args) : []
}

/** How many lines an edit changes; none where the arguments do not tell. */
export const linesOfEdit = (edit: Edit): ChangedLines => {
  switch (edit.is) {
    case 'replacement':
      return changedLines(edit.before, edit.after)
    case 'content':
      return { added: countLines(edit.content), removed: 0 }
    case 'patch':
      return { added: edit.added, removed: edit.removed }
    case 'unknown':
      return { added: 0, removed: 0 }
  }
}
