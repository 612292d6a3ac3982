import type { Action } from '../scenes.ts'

/**
 * A tool that an agent offers. `parameters`: their JSON schemas by their names. `takesText`: its input is a text instead of an object with
 * these. `namespace`: the one that a call has to name.
 */
export type Tool = {
  readonly name: string
  readonly parameters: Readonly<Record<string, { readonly type?: string }>>
  readonly takesText?: boolean
  readonly namespace?: string
}

/** A call that the provider asks for. */
export type Call = {
  readonly id: string
  readonly action: Action
  readonly tool: Tool
  /** An object, or a text if the tool takes that. */
  readonly input: Readonly<Record<string, unknown>> | string
}

/** Numbers of tokens: `input` without `cached`, `output` without `thinking`. */
export type Tokens = {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly thinking: number
}

/** `number`: of the answer among all of the provider, for ids. */
export type ProviderAnswer = {
  readonly number: number
  readonly model: string
  readonly thinking?: string
  readonly text?: string
  readonly calls: readonly Call[]
  readonly tokens: Tokens
}

/** One entry of the conversation that a request restates. */
export type Entry = { readonly from: 'user' | 'model' | 'tool'; readonly text: string }

/** How one kind of requests is read and answered. */
export type Api = {
  /** Ends of the paths of its requests. */
  readonly path: RegExp
  readonly modelOf: (body: Body, path: string) => string
  readonly historyOf: (body: Body) => readonly Entry[]
  readonly toolsOf: (body: Body) => readonly Tool[]
  /** The answer as one object, and as the events of a stream. */
  readonly write: (answer: ProviderAnswer) => { readonly whole: object; readonly events: readonly StreamEvent[] }
  readonly isStream: (body: Body, path: string) => boolean
}

export type StreamEvent = { readonly event?: string; readonly data: object | string }

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what an agent sends is read as it comes
export type Body = Record<string, any>

export const idOf = (prefix: string, number: number): string => `${prefix}_provider${String(number).padStart(6, '0')}`

/** The texts of content, which is a text or a list of blocks with texts. What Codex encrypts between its agents is plain here. */
export const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((block: Body): unknown => block['text'] ?? block['encrypted_content'])
    .filter((text) => typeof text === 'string')
    .join('\n')
}

export const toolOf = ({ name, parameters, type, namespace }: Body): Tool => ({
  name: String(name),
  parameters: parameters?.properties ?? {},
  ...(namespace && { namespace }),
  ...(type === 'custom' && { takesText: true }),
})
