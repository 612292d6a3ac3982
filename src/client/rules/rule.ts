import { z } from 'zod'
import { UsageError } from '../../cli/exit.ts'
import { visibilities } from '../upload/upsert-trace.ts'
import { globProblem } from './globs.ts'

/** Which of these exist is known to the service alone. */
const Namespace = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9-]{1,64}$/, 'is not the name of a namespace')

/** A rule for a project's sessions: the namespace they go to, who may read them, or that they are never sent. */
export const Rule = z.strictObject({
  namespace: Namespace.optional(),
  visibility: z.enum(visibilities, `must be one of ${visibilities.join(', ')}`).optional(),
  never: z.boolean().optional(),
})
export type Rule = z.infer<typeof Rule>

/** A rule, and where it is from: shown to the user. */
export type RuleSource = {
  readonly place: string
  readonly rule: Rule
  /**
   * For a file that came with the project, so that strangers may have written it: the key under which the user's agreement is
   * remembered. Undefined for a rule that the user has written.
   */
  readonly stranger?: { readonly anchor: string; readonly hash: string }
}

const MAX_GLOBS = 100
const MAX_GLOB_CHARACTERS = 256

export const Glob = z
  .string()
  .min(1)
  .max(MAX_GLOB_CHARACTERS)
  .superRefine((glob, context) => {
    const message = globProblem(glob)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
export const Globs = z.array(Glob).max(MAX_GLOBS)

const describe = ({ path, message }: z.core.$ZodIssue): string =>
  path.length === 0 ? message : `${path.join('/')}: ${message}`

/** The value of a JSON text by a schema. Throws UsageError that names the file and the place in it. */
export const parseRules = <T extends z.ZodType>(schema: T, text: string, file: string): z.infer<T> => {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new UsageError(`${file}: ${(error as SyntaxError).message}`)
  }
  const { data, error } = schema.safeParse(value)
  if (error) throw new UsageError(`${file}: ${error.issues.map(describe).join('; ')}`)
  return data
}
