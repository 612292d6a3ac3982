import { z } from 'zod'
import { type Details, invalidRequest } from './http-error.ts'

const MAX_ISSUES = 20
const MAX_ID = 100

type Issue = z.core.$ZodIssue

/** The place of an issue within a body, such as `messages[3].parts[0].type`. */
const placeOf = (path: readonly PropertyKey[]): string =>
  path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i > 0 ? '.' : ''}${String(key)}`)).join('')

/** The text of an issue; with its place if it is deeper than a member of the body. */
const textOf = ({ path, message }: Issue): string => (path.length > 1 ? `${placeOf(path)}: ${message}` : message)

const flatten = (issues: Issue[]): Details => {
  const { formErrors, fieldErrors } = z.flattenError(new z.ZodError(issues.slice(0, MAX_ISSUES)), textOf)
  return { formErrors, fieldErrors }
}

const refuse = (issues: Issue[]): never => {
  throw invalidRequest(flatten(issues))
}

/** The value that a schema makes of another. @throws HttpError invalid_request */
export const read = (schema: z.ZodType, value: unknown): unknown => {
  const result = schema.safeParse(value)
  return result.success ? result.data : refuse(result.error.issues)
}

/** Checks a value and returns it unchanged, including what zod would drop or round. @throws HttpError invalid_request */
export const check = (schema: z.ZodType, value: unknown): unknown => {
  read(schema, value)
  return value
}

/** The `externalId` of an item of a list, for the text of an issue; empty if it has none. */
export const nameOf = (item: unknown): string => {
  const id = (item as { externalId?: unknown } | null | undefined)?.externalId
  if (typeof id !== 'string' || id === '') return ''
  return ` (externalId ${JSON.stringify(id.length > MAX_ID ? `${id.slice(0, MAX_ID)}…` : id)})`
}

/**
 * Checks the items of a list, and stops after as many issues as an answer shows. Each issue has the index of its item, from 0,
 * and the `externalId` of the item. @throws HttpError invalid_request
 */
export const checkEach = (field: string, schema: z.ZodType, items: readonly unknown[]): void => {
  const issues: Issue[] = []
  for (let i = 0; i < items.length && issues.length < MAX_ISSUES; i++)
    for (const issue of schema.safeParse(items[i]).error?.issues ?? [])
      issues.push({ ...issue, path: [field, i, ...issue.path], message: issue.message + nameOf(items[i]) })
  if (issues.length > 0) refuse(issues)
}

/**
 * The own members of a body with these names that are not undefined. A validated body may have other members, too.
 */
export const pickDefined = <Body extends object, Name extends keyof Body>(
  body: Body,
  names: readonly Name[],
): { [N in Name]?: Exclude<Body[N], undefined> } => {
  const members: { [N in Name]?: Exclude<Body[N], undefined> } = {}
  for (const name of names) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined
    if (value !== undefined) members[name] = value as Exclude<Body[Name], undefined>
  }
  return members
}
