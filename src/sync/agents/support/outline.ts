import type { SessionMessage } from '../agent.ts'
import { count, mostFrequent } from './most-frequent.ts'
import { titleOf } from './title.ts'

/** What a first reading collects of the messages: the trace's title and model, unless the agent has stored better ones. */
export const newOutline = () => {
  const models = new Map<string, number>()
  let title: string | undefined
  return {
    note: ({ role, model, parts }: SessionMessage): void => {
      if (model !== undefined) count(models, model)
      if (role !== 'user' || title !== undefined) return
      const prompt = parts.find(({ type }) => type === 'text')
      if (prompt?.type === 'text') title = titleOf(prompt.content.text)
    },
    /** The first prompt, shortened. */
    title: () => title,
    /** The model of most messages. */
    model: () => mostFrequent(models),
  }
}
