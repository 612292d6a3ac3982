import { z } from 'zod'

/** Whether a schema takes a value. */
const takes = (schema: z.core.$ZodType, value: unknown): boolean => z.core.safeParse(schema, value).success

/**
 * The arguments of a call as they are meant. Clients send `null` or an empty text for what their model has left out, and numbers as text. What the schema takes
 * as it is stays so.
 */
const meantBy = (input: z.ZodObject, given: unknown): unknown => {
  if (given === null) return {}
  if (typeof given !== 'object') return given
  const meant = Object.entries(given).flatMap(([name, value]: [string, unknown]) => {
    const schema = input.shape[name] ?? z.unknown()
    if (value === null || (value === '' && takes(schema, undefined))) return []
    const number = typeof value === 'string' && /^-?\d+$/.test(value) && !takes(schema, value) ? Number(value) : value
    return [[name, number]]
  })
  return Object.fromEntries(meant)
}

/** The schema of arguments that takes them as clients send them. Its JSON Schema is that of `input`. */
export const lenient = <Input extends z.ZodObject>(input: Input) =>
  z.preprocess((given) => meantBy(input, given), input)

/** A message of the protocol as it is meant: a call without arguments may have `null` for them, which the protocol does not allow. */
export const meantMessage = <Message>(message: Message): Message => {
  const { params } = (message ?? {}) as { readonly params?: { readonly arguments?: unknown } }
  if (params?.arguments !== null) return message
  const { arguments: _, ...others } = params
  return { ...message, params: others }
}
