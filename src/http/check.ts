import { z } from 'zod'
import { HttpError } from './http-error.ts'

const MAX_ISSUES = 20

const flatten = (issues: z.core.$ZodIssue[]) => {
  const { formErrors, fieldErrors } = z.flattenError(new z.ZodError(issues.slice(0, MAX_ISSUES)))
  return { formErrors, fieldErrors }
}

const refuse = (issues: z.core.$ZodIssue[]): never => {
  throw new HttpError('invalid_request', 'Invalid request', flatten(issues))
}

/** Checks a value and returns it unchanged, also what zod would drop or round. @throws HttpError invalid_request */
export const check = (schema: z.ZodType, value: unknown): unknown => {
  const result = schema.safeParse(value)
  return result.success ? value : refuse(result.error.issues)
}

/** The same for the items of a list; stops after as many issues as an answer shows. */
export const checkEach = (field: string, schema: z.ZodType, items: readonly unknown[]): void => {
  const issues: z.core.$ZodIssue[] = []
  for (let i = 0; i < items.length && issues.length < MAX_ISSUES; i++)
    for (const issue of schema.safeParse(items[i]).error?.issues ?? [])
      issues.push({ ...issue, path: [field, i, ...issue.path] })
  if (issues.length > 0) refuse(issues)
}
