import type { EventData } from '@eventstore/db-client'
import { isId } from '../../ids.ts'
import type { NewEvent } from '../log.ts'

const encoder = new TextEncoder()

const assertText = (what: string, text: unknown) => {
  if (typeof text !== 'string' || !text.isWellFormed()) throw new TypeError(`${what} cannot be written down`)
}

/** Parsed once to be sure, as Postgres does; not again what this process has just made of a value. */
const assertJson = (what: string, text: string) => {
  assertText(what, text)
  JSON.parse(text)
}

const assertEvent = ({ id, type, data, metadata, decoded }: NewEvent) => {
  if (typeof id !== 'string' || !isId(id)) throw new TypeError('an id must be a UUID in lower case')
  assertText('a type', type)
  if (type === '' || type.includes('\0')) throw new TypeError('a type cannot be written down')
  const assert = decoded ? assertText : assertJson
  assert('a body', data)
  assert('metadata', metadata)
}

/**
 * An event for the client. Whatever it cannot serialise would leave its promise open for ever, so all is checked here.
 * Binary, because JSON would be parsed and written anew; a plain Uint8Array, because a Buffer as metadata would be.
 * @throws TypeError, SyntaxError
 */
export const toEventData = (event: NewEvent): EventData => {
  assertEvent(event)
  const { id, type, data, metadata } = event
  return {
    id,
    type,
    contentType: 'application/octet-stream',
    data: encoder.encode(data),
    metadata: encoder.encode(metadata),
  }
}
