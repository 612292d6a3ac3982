import { z } from 'zod'
import { type Details, invalidRequest } from './http-error.ts'

const MAX_ISSUES = 20
const MAX_ID = 100

type Issue = z.core.$ZodIssue

/** The place of an issue within a body, such as `messages[3].parts[0].type`. */
const placeOf = (path: readonly PropertyKey[]): string =>
  path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i > 0 ? '.' : ''}${String(key)}`)).join('')

/** An issue of a member of the body is told as it is; one further within with its place. */
const textOf = ({ path, message }: Issue): string => (path.length > 1 ? `${placeOf(path)}: ${message}` : message)

const flatten = (issues: Issue[]): Details => {
  const { formErrors, fieldErrors } = z.flattenError(new z.ZodError(issues.slice(0, MAX_ISSUES)), textOf)
  return { formErrors, fieldErrors }
}

const refuse = (issues: Issue[]): never => {
  throw invalidRequest(flatten(issues))
}

/** What a schema makes of a value. @throws HttpError invalid_request */
export const read = (schema: z.ZodType, value: unknown): unknown => {
  const result = schema.safeParse(value)
  return result.success ? result.data : refuse(result.error.issues)
}

/** Checks a value and returns it unchanged, also what zod would drop or round. @throws HttpError invalid_request */
export const check = (schema: z.ZodType, value: unknown): unknown => {
  read(schema, value)
  return value
}

/** The `externalId` by which a client knows an item of a list, for the text of an issue; empty when it has none. */
export const nameOf = (item: unknown): string => {
  const id = (item as { externalId?: unknown } | null | undefined)?.externalId
  if (typeof id !== 'string' || id === '') return ''
  return ` (externalId ${JSON.stringify(id.length > MAX_ID ? `${id.slice(0, MAX_ID)}…` : id)})`
}

/**
 * The same for the items of a list; stops after as many issues as an answer shows. Each issue says the index of its item, from 0,
 * and the item's `externalId`.
 */
export const checkEach = (field: string, schema: z.ZodType, items: readonly unknown[]): void => {
  const issues: Issue[] = []
  for (let i = 0; i < items.length && issues.length < MAX_ISSUES; i++)
    for (const issue of schema.safeParse(items[i]).error?.issues ?? [])
      issues.push({ ...issue, path: [field, i, ...issue.path], message: issue.message + nameOf(items[i]) })
  if (issues.length > 0) refuse(issues)
}
