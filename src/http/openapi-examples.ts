import { randomBytes } from 'node:crypto'
import { EXAMPLE_DEVICE_ID, EXAMPLE_SLUG } from '../contract/fields.ts'

/**
 * The document, as JSON, with examples that one reader can send unchanged: with a random `deviceId`, and a slug that is not
 * taken. The document at `/openapi.json` is the same for all.
 */
export const withOwnExamples = (document: string): string => {
  const [deviceId, slug] = [randomBytes(16).toString('hex'), `${EXAMPLE_SLUG}-${randomBytes(3).toString('hex')}`]
  return document
    .replaceAll(JSON.stringify(EXAMPLE_DEVICE_ID), JSON.stringify(deviceId))
    .replaceAll(JSON.stringify(EXAMPLE_SLUG), JSON.stringify(slug))
}
