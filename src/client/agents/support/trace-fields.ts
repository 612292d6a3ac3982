import { LONG_TEXT, truncateText } from '../../../base/texts.ts'
import type { SessionMessage, SessionFields } from '../agent.ts'
import { acceptedId } from './external-ids.ts'
import { withoutCredentials } from './git-remote.ts'
import { textOf } from './json.ts'
import { lastFolder, projectNameOf } from './project-name.ts'

/** A title from a prompt: all of it on one line, up to the limit of the service. Whoever shows it cuts it. */
export const titleOf = (prompt: string): string => truncateText(prompt.replace(/\s+/g, ' ').trim(), LONG_TEXT)

/** A title from a message. One that `isWeak` names a command or an image, and is taken only where no prompt says more. */
export type PromptTitle = { readonly title: string; readonly isWeak: boolean }

/** Whole texts that replace an image or a file (`media.ts`). */
const isPlaceholder = (text: string): boolean =>
  /^\[(?:image|audio|video|document|data|file|blob|directory|attachment)\b[^\]\n]*\]$/i.test(text.trim())

/** What some programs write into a prompt where an image was pasted. */
const pasted = /^(?:\[(?:Image|Pasted text) #\d[^\]\n]*\]\s*)+/i

/** A command of an agent without arguments: not a path, which has another slash. */
const isCommand = (text: string): boolean => /^\/[\w:.-]+$/.test(text.trim())

/** The title that a message would give its session; undefined for all messages but prompts and commands. */
export const titleOfPrompt = ({ role, parts }: Pick<SessionMessage, 'role' | 'parts'>): PromptTitle | undefined => {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.content.text] : []))
  if (role === 'system') {
    const command = texts.find((text) => /^(?:\/[\w:.-]+(?:\s|$)|! )/.test(text))
    return command === undefined ? undefined : { title: titleOf(command.split('\n')[0]!), isWeak: true }
  }
  const [first] = texts
  if (role !== 'user' || first === undefined) return undefined
  const typed = texts.map((text) => text.replace(pasted, '')).find((text) => text.trim() !== '' && !isPlaceholder(text))
  return typed === undefined
    ? { title: titleOf(first), isWeak: true }
    : { title: titleOf(typed), isWeak: isCommand(typed) }
}

/** Collects the title of a session: the first prompt's, else that of a command or an image. */
export const newPromptTitle = () => {
  let strong: string | undefined
  let weak: string | undefined
  return {
    note: (message: Pick<SessionMessage, 'role' | 'parts'>): void => {
      if (strong !== undefined) return
      const found = titleOfPrompt(message)
      if (found?.isWeak === false) strong = found.title
      else weak ??= found?.title
    },
    /** Whether the first prompt that says something was noted: no later message changes the title. */
    isFound: (): boolean => strong !== undefined,
    best: (): string | undefined => strong ?? weak,
  }
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
  const title = newPromptTitle()
  return {
    note: (message: SessionMessage): void => {
      if (message.model !== undefined) count(models, message.model)
      title.note(message)
    },
    /** The first prompt. */
    title: title.best,
    /** The model of most messages. */
    model: () => mostFrequent(models),
  }
}
export type Outline = ReturnType<typeof newOutline>

/** The fields of a trace as they were found in a session. */
type Found = {
  readonly [Key in Exclude<keyof SessionFields, 'agentId' | 'projectName'>]?: SessionFields[Key] | undefined
}

/** The fields that say of which session this one is a fork. What the session's file has of it is stored here, too; what it has not is not fetched. */
export const forkOf = (sessionId: string): Pick<SessionFields, 'parentExternalId' | 'parentKind'> => ({
  parentExternalId: acceptedId(sessionId, 'session'),
  parentKind: 'fork',
})

/**
 * The fields of a trace without those that are undefined. The project is named after `repository`, the folder of the repository where the agent has
 * stored it, else as its path and the remote tell; credentials are cut from the remote.
 */
export const traceFieldsOf = (agentId: string, found: Found, repository?: string): SessionFields => {
  const named = repository === undefined ? undefined : lastFolder(repository)
  const gitRemoteUrl = found.gitRemoteUrl === undefined ? undefined : withoutCredentials(found.gitRemoteUrl)
  const projectName = named ?? projectNameOf(found.projectPath, gitRemoteUrl)
  const fields = { ...found, projectName, gitRemoteUrl }
  return { agentId, ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) }
}
