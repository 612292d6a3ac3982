import type { Call, Tool } from './apis/api.ts'
import type { Action } from './scenes.ts'

/** An action as a call of one of the tools that an agent offers. */

type Asked = Pick<Call, 'tool' | 'input'>

/** The names that tools of one kind have in the agents. */
const NAMES: Readonly<Record<Action['kind'], readonly string[]>> = {
  shell: ['bash', 'run_shell_command', 'exec_command', 'shell'],
  write: ['write', 'write_file', 'apply_patch'],
  edit: ['edit', 'replace', 'apply_patch'],
  read: ['read', 'read_file'],
  delegate: ['task', 'agent', 'spawn_agent', 'invoke_agent'],
  wait: ['wait_agent'],
  complete: ['complete_task'],
}

const patchOf = (action: Action): string => {
  const lines = (text: string, sign: string) => text.trimEnd().replaceAll(/^/gm, sign)
  const change =
    action.kind === 'write'
      ? `*** Add File: ${action.path}\n${lines(action.content, '+')}`
      : action.kind === 'edit' && `*** Update File: ${action.path}\n@@\n-${action.before}\n+${action.after}`
  return `*** Begin Patch\n${change}\n*** End Patch\n`
}

/** The values of an action by the names of parameters; a tool gets those that it takes. */
const valuesOf = (action: Action, { parameters }: Tool, folder: string): Readonly<Record<string, unknown>> => {
  switch (action.kind) {
    case 'shell':
      return { command: action.command, cmd: action.command, description: 'Runs a command', is_background: false }
    case 'write':
      return { ...pathOf(action.path, folder), content: action.content }
    case 'edit':
      return {
        ...pathOf(action.path, folder),
        old_string: action.before,
        oldString: action.before,
        new_string: action.after,
        newString: action.after,
        edits: [{ oldText: action.before, newText: action.after }],
        instruction: 'Change the line',
      }
    case 'read':
      return pathOf(action.path, folder)
    case 'delegate':
      return {
        description: 'Count the files',
        task_name: 'count_files',
        agent_name: 'generalist',
        prompt: action.prompt,
        message: action.prompt,
      }
    case 'wait':
      return { timeout_ms: 20_000 }
    case 'complete':
      return { result: parameters['result']?.type === 'object' ? { response: action.result } : action.result }
  }
}

const pathOf = (path: string, folder: string) => {
  const absolute = `${folder}/${path}`
  return { file_path: absolute, filePath: absolute, absolute_path: absolute, path: absolute }
}

const subagentOf = (tools: readonly Tool[]) => ({
  subagent_type: tools.some(({ name }) => name === 'webfetch') ? 'general' : 'general-purpose',
})

/** The call by which an agent in `folder` does this, or undefined if it offers no tool for it. */
export const callFor = (action: Action, tools: readonly Tool[], folder: string): Asked | undefined => {
  const tool = tools.find(({ name }) => NAMES[action.kind].includes(name))
  if (!tool) return action.kind === 'read' ? callFor(catOf(action.path), tools, folder) : undefined
  if (tool.takesText) return { tool, input: patchOf(action) }
  const values = { ...valuesOf(action, tool, folder), ...(action.kind === 'delegate' && subagentOf(tools)) }
  const input = Object.fromEntries(Object.entries(values).filter(([name]) => tool.parameters[name]))
  return { tool, input }
}

const catOf = (path: string): Action => ({ kind: 'shell', command: `cat ${path}` })
