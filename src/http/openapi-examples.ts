import { randomBytes } from 'node:crypto'
import { EXAMPLE_DEVICE_ID, EXAMPLE_SLUG } from '../contract/fields.ts'

/**
 * The JSON text of the document with examples that a reader of `/docs` can send unchanged: a random `deviceId`, and a slug that is
 * not taken. The document at `/openapi.json` is the same for everybody.
 */
export const withOwnExamples = (document: string): string => {
  const [deviceId, slug] = [randomBytes(16).toString('hex'), `${EXAMPLE_SLUG}-${randomBytes(3).toString('hex')}`]
  return document
    .replaceAll(JSON.stringify(EXAMPLE_DEVICE_ID), JSON.stringify(deviceId))
    .replaceAll(JSON.stringify(EXAMPLE_SLUG), JSON.stringify(slug))
}
