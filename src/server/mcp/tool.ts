import type { McpServer } from '@modelcontextprotocol/server'
import type { z } from 'zod'
import { type Answer, type AnswerField, resultOf } from './answer.ts'
import { lenient } from './meant.ts'
import type { Sessions } from './sessions.ts'

/** A call whose arguments contradict each other, or name a part that does not exist. The caller gets the message. */
export class InvalidCall extends Error {
  override readonly name = 'InvalidCall'
}

/** A tool, as it is listed, and how it answers. */
export type Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Input
  readonly output: Output
  readonly answer: (
    sessions: Sessions,
    given: z.output<Input>,
  ) => Promise<Answer<Omit<z.input<Output>, AnswerField> & { readonly quotes: object }>>
}

/** How many milliseconds a node may lag behind another one: writes that are older than that are in every answer. */
const NODE_LAG_MS = 1_000

/** Adds a tool to a server. A call that fails is answered with the reason. */
export const register = <Input extends z.ZodObject, Output extends z.ZodObject>(
  server: McpServer,
  { name, title, description, input, output, answer }: Tool<Input, Output>,
  sessions: Sessions,
): void => {
  const annotations = { title, readOnlyHint: true, openWorldHint: false }
  server.registerTool(
    name,
    { title, description, inputSchema: lenient(input as z.ZodObject), outputSchema: output, annotations },
    async (given) => {
      const began = performance.now()
      try {
        const answered = await answer(sessions, given as z.output<Input>)
        const through = sessions.now() - (performance.now() - began) - NODE_LAG_MS
        return resultOf(answered, new Date(through).toISOString())
      } catch (error) {
        const why = error instanceof InvalidCall ? error.message : sessions.explain(error)
        return { content: [{ type: 'text', text: why }], isError: true }
      }
    },
  )
}
