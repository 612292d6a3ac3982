import { HttpError, notFound } from '../http/http-error.ts'

/** Seconds until an event that was just appended is covered. */
export const RETRY_AFTER = 2

/** A 404 for an event that no checkpoint, or not the tree that was asked for, covers. */
export const notCovered = (): HttpError => new HttpError('not_found', notFound().message, undefined, RETRY_AFTER)
