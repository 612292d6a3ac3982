import type { EventData } from '@eventstore/db-client'
import { isId } from '../../ids.ts'
import type { NewEvent } from '../log.ts'

const encoder = new TextEncoder()

const assertText = (what: string, text: unknown) => {
  if (typeof text !== 'string' || !text.isWellFormed()) throw new TypeError(`${what} cannot be written down`)
}

/** Parses the text, as PostgreSQL does on insert. Not needed for texts that this process has just serialised. */
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
 * Converts an event for the client. What the client cannot serialise would leave its promise pending for ever, so
 * everything is checked here. The content type is binary, because the client would parse and rewrite JSON; metadata is
 * a plain `Uint8Array`, because the client would serialise a `Buffer` as JSON.
 * @throws TypeError for texts that UTF-8 or the server cannot hold
 * @throws SyntaxError for data or metadata that is not JSON
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
