import type { SessionMessage } from '../agent.ts'
import { count, mostFrequent } from './most-frequent.ts'
import { titleOf } from './title.ts'

/** What an outline has noted, as plain JSON. */
export type SavedOutline = { readonly models: readonly (readonly [string, number])[]; readonly title?: string }

/** The title that a message would give its session; undefined for all but prompts. */
export const titleOfPrompt = ({ role, parts }: Pick<SessionMessage, 'role' | 'parts'>): string | undefined => {
  const prompt = role === 'user' ? parts.find(({ type }) => type === 'text') : undefined
  return prompt?.type === 'text' ? titleOf(prompt.content.text) : undefined
}

/** What a first reading collects of the messages: the trace's title and model, unless the agent has stored better ones. */
export const newOutline = (saved?: SavedOutline) => {
  const models = new Map(saved?.models)
  let title = saved?.title
  return {
    note: (message: SessionMessage): void => {
      if (message.model !== undefined) count(models, message.model)
      title ??= titleOfPrompt(message)
    },
    /** The first prompt, shortened. */
    title: () => title,
    /** The model of most messages. */
    model: () => mostFrequent(models),
    save: (): SavedOutline => ({ models: [...models], ...(title === undefined ? {} : { title }) }),
  }
}
export type Outline = ReturnType<typeof newOutline>
