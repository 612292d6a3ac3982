import type { SessionMessage, SessionFields } from '../agent.ts'
import { withoutCredentials } from './git-remote.ts'
import { textOf } from './json.ts'

const MAX_TITLE = 80

/** A title from a prompt: one line of at most 80 characters, cut between words. */
export const titleOf = (prompt: string): string => {
  const characters = [...prompt.replace(/\s+/g, ' ').trim()]
  if (characters.length <= MAX_TITLE) return characters.join('')
  const cut = characters.slice(0, MAX_TITLE).join('')
  const end = cut.lastIndexOf(' ')
  return `${end > 0 ? cut.slice(0, end) : [...cut].slice(0, -1).join('')}…`
}

/** The title that a message would give its session; undefined for all messages but prompts. */
export const titleOfPrompt = ({ role, parts }: Pick<SessionMessage, 'role' | 'parts'>): string | undefined => {
  const prompt = role === 'user' ? parts.find(({ type }) => type === 'text') : undefined
  return prompt?.type === 'text' ? titleOf(prompt.content.text) : undefined
}

/** A title that the agent has stored; undefined if it is blank, or the default title that every new session has. */
export const storedTitle = (title: unknown): string | undefined => {
  const text = textOf(title)?.trim()
  return text === undefined || /^new session\b/i.test(text) ? undefined : text
}

/** Counts one more of `value`. */
export const count = (counts: Map<string, number>, value: string): void => {
  counts.set(value, (counts.get(value) ?? 0) + 1)
}

/** The value with the highest count, and of several the first one; undefined if nothing was counted. */
export const mostFrequent = (counts: ReadonlyMap<string, number>): string | undefined => {
  let best: readonly [string, number] | undefined
  for (const entry of counts) if (!best || entry[1] > best[1]) best = entry
  return best?.[0]
}

/** Collects the trace's title and model from the messages, in case the agent has not stored better ones. */
export const newOutline = () => {
  const models = new Map<string, number>()
  let title: string | undefined
  return {
    note: (message: SessionMessage): void => {
      if (message.model !== undefined) count(models, message.model)
      title ??= titleOfPrompt(message)
    },
    /** The first prompt, shortened. */
    title: () => title,
    /** The model of most messages. */
    model: () => mostFrequent(models),
  }
}
export type Outline = ReturnType<typeof newOutline>

/** The fields of a trace as they were found in a session. */
type Found = {
  readonly [Key in Exclude<keyof SessionFields, 'agentId' | 'projectName'>]?: string | undefined
}

const lastFolder = (path: string): string | undefined => path.split(/[\\/]/).findLast((name) => name !== '')

/** The fields of a trace without those that are undefined. The project is named after its folder; credentials are cut from the remote. */
export const traceFieldsOf = (agentId: string, found: Found): SessionFields => {
  const projectName = found.projectPath === undefined ? undefined : lastFolder(found.projectPath)
  const gitRemoteUrl = found.gitRemoteUrl === undefined ? undefined : withoutCredentials(found.gitRemoteUrl)
  const fields = { ...found, projectName, gitRemoteUrl }
  return { agentId, ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) }
}
