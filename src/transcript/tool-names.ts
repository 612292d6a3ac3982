/** Common agents' names for the same tool. The key is a name in normal form. */
const synonyms: Readonly<Record<string, string>> = {
  shell: 'bash',
  local_shell: 'bash',
  exec_command: 'bash',
  run_shell_command: 'bash',
  shell_command: 'bash',
  run_terminal_cmd: 'bash',
  execute_command: 'bash',
  read_file: 'read',
  view: 'read',
  read_many_files: 'read',
  write_file: 'write',
  create_file: 'write',
  write_to_file: 'write',
  str_replace: 'edit',
  apply_patch: 'edit',
  replace: 'edit',
  multi_edit: 'edit',
  edit_file: 'edit',
  replace_in_file: 'edit',
  rg: 'grep',
  search_file_content: 'grep',
  grep_search: 'grep',
}

const normalise = (name: string): string =>
  name
    .normalize('NFKC')
    .trim()
    .replace(/(\p{Ll}|\p{N})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1$2_')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_|_$/g, '')

const known = new Map<string, string>()
const MAX_KNOWN = 1_000

/** One name for a tool in all agents. `mcp__server__tool` keeps its server. `unknown` for an empty name. */
export const toolName = (name: string): string => {
  let word = known.get(name)
  if (word === undefined) {
    const normal = normalise(name) || 'unknown'
    word = Object.hasOwn(synonyms, normal) ? synonyms[normal]! : normal
    if (known.size < MAX_KNOWN && name.length < 100) known.set(name, word)
  }
  return word
}
